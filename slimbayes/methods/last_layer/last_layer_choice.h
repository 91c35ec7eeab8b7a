#pragma once

#include "slimbayes/methods/last_layer/fitted_last_layer.h"
#include "slimbayes/methods/last_layer/posterior_choice.h"

namespace slimbayes {

/// Chooses the noise variance and the prior sd s of a regression with chosen() (posterior_choice.h), and
/// throws as chosen() does. `valid` are the validation rows; its tensors are undefined if there are none.
/// `unseen` is NetworkNoise::unseen.
///
/// Both values are chosen for the prior covariance s^2 I, as in bll; only the option prior = "select" chooses
/// them for the prior covariance of `posterior`. So bll and rich-bll around one network get the same values
/// with default options, and the variance of rich-bll is never below that of bll (Rich-BLL, theorem 3.3).
PosteriorChoice regression_choice(const TrainedNetwork& network, const Task& task,
                                  const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                                  const LastLayerOptions& options, bool unseen);

/// Chooses the prior sd of a classifier, as the option `prior` says:
/// - "fixed": the option prior_sd.
/// - "unit": the value for which the logits have a prior sd of 1 on average over the training rows, under the
///   prior covariance s^2 I.
/// - "select": the value in prior_range with the least mean NLL, by their weights, of the validation rows (at
///   most the first 2,000). Without validation rows, the value of "unit".
/// Throws NumericalError if no value has a finite NLL.
PosteriorChoice class_choice(const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                             const PosteriorChoiceOptions& options);

}  // namespace slimbayes
