#pragma once

#include "slimbayes/families/last_layer/fitted_last_layer.h"
#include "slimbayes/families/last_layer/posterior_choice.h"

namespace slimbayes {

/// Chooses the noise and the prior sd of a regression. `valid` are the validation rows; undefined if there
/// are none. Both values are chosen for the plain last layer with prior covariance s^2 I, except with prior
/// "select". So bll and rich-bll around one network get the same values, and rich-bll's variance is never
/// below bll's (R theorem 3.3), also with default options. `unseen` is NetworkNoise::unseen. Throws as
/// `chosen`.
PosteriorChoice regression_choice(const TrainedNetwork& network, const Task& task,
                                  const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                                  const LastLayerOptions& options, bool unseen);

/// Chooses the prior sd of a classifier. With prior "fixed" it is the option prior_sd. With prior "select"
/// and validation rows it is the value in prior_range with the least NLL on at most 2,000 of them. In all
/// other cases it is the value for which the logits of the plain last layer have a prior sd of 1 on average
/// over the training rows (prior "unit").
PosteriorChoice class_choice(const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                             const PosteriorChoiceOptions& options);

}  // namespace slimbayes
