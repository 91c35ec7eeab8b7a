#pragma once

#include "slimbayes/families/last_layer/fitted_last_layer.h"
#include "slimbayes/families/last_layer/posterior_choice.h"

namespace slimbayes {

/// Returns the noise and prior sd of a regression; `valid` are its validation rows, undefined without them.
/// Unless the prior sd is chosen too (prior "select"), they are those of the plain last layer, whose prior
/// covariance is s^2 I. So two last layers around one network have the same, and an enriched variance is
/// never below the plain one (R theorem 3.3), between default fits too. `unseen` is NetworkNoise::unseen.
/// Throws as `chosen`.
PosteriorChoice regression_choice(const TrainedNetwork& network, const Task& task,
                                  const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                                  const LastLayerOptions& options, bool unseen);

/// Returns the prior sd of a classifier: with prior "select" the one with the least NLL of at most 2,000
/// validation rows, in prior_range; without validation rows, and with prior "unit", the one with which the
/// logits of the plain last layer have a prior sd of 1 on average over their training rows.
PosteriorChoice class_choice(const LastLayerPosterior& posterior, const EvaluatedRows& valid,
                             const PosteriorChoiceOptions& options);

}  // namespace slimbayes
