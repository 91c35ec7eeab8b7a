#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/core/likelihood.h"
#include "slimbayes/families/last_layer/last_layer.h"
#include "slimbayes/families/last_layer/last_layer_features.h"
#include "slimbayes/families/last_layer/posterior_choice.h"
#include "slimbayes/method/trained_network.h"

namespace slimbayes {

/// The posteriors of a last layer, one for each output.
struct LastLayerPosterior {
  at::Tensor prior_factor;                   // T [r, r], the prior covariance of the weights is T T^T
  std::vector<LinearStatistics> statistics;  // of each output
  double noise_var;                          // sigma2; for classes, class_noise
  bool sampled = false;                      // whether the statistics are from a sample of the rows

  std::vector<LinearPosterior> outputs() const;
};

/// The last layer's features and outputs at all rows, with the targets. Float64.
struct EvaluatedRows {
  at::Tensor features, output, y;  // [n, r], [n, k], [n]
};
EvaluatedRows evaluated(const LastLayerFeatures& network, const Dataset& data);

/// Returns the rows for the posterior of output c. For a regression they are all rows with their residuals.
/// For classes they are the rows of class c (with one logit, all rows); their targets are not used, because
/// the mean stays the network's.
LinearRows rows_of_output(const EvaluatedRows& rows, int64_t c, bool regression);

/// Returns the most rows that enter the posterior of one of `outputs` logits: class_rows, or twice as many
/// for a single logit, which has the rows of both classes.
int64_t most_class_rows(const LastLayerOptions& options, int64_t outputs);

/// Returns the mean and variance of each output. [b, k]
Latent latent_at(const std::vector<LinearPosterior>& outputs, const LastLayerRows& rows);

/// Returns a classifier's answer for latent functions with this mean and variance. [n, k]
Predictive class_answer(const Latent& f);

/// A trained network with a posterior of its last layer: the result of bll and rich-bll.
class FittedLastLayer : public ExactPosterior {
 public:
  FittedLastLayer(LastLayer layer, TrainedNetwork network, const LastLayerPosterior& posterior,
                  Summary summary, PosteriorChoice choice);
  /// Makes the same network with updated posteriors of `rows` rows in all. `sampled` as in
  /// LastLayerPosterior.
  FittedLastLayer(const FittedLastLayer& before, std::vector<LinearPosterior> outputs, int64_t rows,
                  bool sampled);

  Predictive predict(const Dataset& data, const PredictOptions& options) const override;
  /// For classes: "energy", and "logit_var", the variance of the predicted class's logit (R section 4.4).
  Scores ood(const Dataset& data) const override;
  std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const override;
  std::unique_ptr<Fitted> with_noise(double var) const override;
  std::unique_ptr<ExactPosterior> prior() const override;
  std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const override;
  TensorFile save() const override;
  const Summary& summary() const override { return summary_; }
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }
  const PosteriorChoice& choice() const { return choice_; }

 private:
  void check_posteriors() const;
  /// Throws if the posterior comes from a sample of the rows: a row outside the sample cannot be removed.
  void check_all_rows_known() const;
  bool regression() const { return trained_->head.is_regression(); }
  bool posterior_mean() const { return layer_.posterior.mean == "posterior"; }
  Predictive answer(const LastLayerRows& rows) const;

  LastLayer layer_;
  std::shared_ptr<const TrainedNetwork> trained_;
  std::vector<LinearPosterior> outputs_;  // one per output
  bool sampled_;                          // LastLayerPosterior::sampled
  Summary summary_;
  PosteriorChoice choice_;     // of the fit; not stored
  LastLayerFeatures network_;  // answer_features
  /// Features for the rows of updates (statistics_features). The first update makes them; later updates reuse
  /// them.
  std::optional<LastLayerFeatures> exact_;
};

}  // namespace slimbayes
