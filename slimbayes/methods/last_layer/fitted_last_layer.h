#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "slimbayes/answers/likelihood.h"
#include "slimbayes/core/gaussian_linear.h"
#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/last_layer.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "slimbayes/methods/last_layer/posterior_choice.h"

namespace slimbayes {

/// The posteriors of the last layer's weights, one for each output, all with the same prior. The struct holds
/// sufficient statistics; outputs() computes the posteriors from them.
struct LastLayerPosterior {
  at::Tensor prior_factor;                   // T [r, r], the prior covariance of the weights is T T^T
  std::vector<LinearStatistics> statistics;  // one per output, of the rows that it learned
  double noise_var;                          // of a regression; for classes the option class_noise
  bool sampled = false;                      // whether the statistics are from a sample of the rows

  std::vector<LinearPosterior> outputs() const;
};

/// The last layer's features, the network's outputs and the targets of all rows of a dataset. Float64, all on
/// one device.
struct EvaluatedRows {
  at::Tensor features, output, y;  // [n, r], [n, k], [n]
  at::Tensor weight = {};          // [n] Batch::weight; undefined if every row counts once
};

/// Returns those of all rows, on `device`. `network` and `data` are on one device, this one or another.
EvaluatedRows evaluated(const LastLayerFeatures& network, const Dataset& data, at::Device device = at::kCPU);

/// Calls `each` with those of consecutive rows, block after block, so that few of them are in memory. They
/// are on the device of `data`.
void over_evaluated(const LastLayerFeatures& network, const Dataset& data,
                    const std::function<void(const EvaluatedRows& rows)>& each);

/// Returns the rows that the posterior of output c learns. For a regression they are all rows, with the
/// residuals y - f(x) as targets. For classes they are the rows of class c (with one logit, all rows). Their
/// targets are 0 and have no effect: a classifier's mean stays the network's. Each row keeps its weight.
LinearRows rows_of_output(const EvaluatedRows& rows, int64_t c, bool regression);

/// Returns the network's outputs as the mean, and for each output the epistemic variance of its posterior.
/// The rows are on the CPU. [b, k] each
Latent latent_at(const std::vector<LinearPosterior>& outputs, const LastLayerRows& rows);

/// Returns the class probabilities averaged over independent Gaussian logits with the mean and variance of f,
/// [n, k] each.
Predictive class_answer(const Latent& f);

/// A trained network with a posterior of its last layer: the result of bll, rich-bll and, for a regression,
/// last-layer-laplace.
class FittedLastLayer : public ExactPosterior {
 public:
  FittedLastLayer(LastLayer layer, TrainedNetwork network, const LastLayerPosterior& posterior,
                  Summary summary, PosteriorChoice choice);
  /// Makes the same network with other posteriors, which have learned `rows` rows in all. `sampled` as in
  /// LastLayerPosterior.
  FittedLastLayer(const FittedLastLayer& before, std::vector<LinearPosterior> outputs, int64_t rows,
                  bool sampled);

  Predictive predict(const Dataset& data, const PredictOptions& options) const override;
  /// Returns for classes "energy" and "logit_var", the variance of the predicted class's logit (Rich-BLL,
  /// section 4.4); for a regression no scores.
  Scores ood(const Dataset& data, const PredictOptions& options = {}) const override;
  std::unique_ptr<ExactPosterior> updated(const Dataset& add, const Dataset& drop) const override;
  std::unique_ptr<Fitted> with_noise(double var) const override;
  std::unique_ptr<ExactPosterior> prior() const override;
  std::unique_ptr<ExactPosterior> merged(const ExactPosterior& other) const override;
  TensorFile save() const override;
  const Summary& summary() const override { return summary_; }
  std::optional<engine::RowSpec> row_spec() const override;
  std::optional<engine::AnswerSpec> answer_spec() const override;
  std::shared_ptr<const TrainedNetwork> network() const override { return trained_; }
  /// Classes: averaged, over independent Gaussian logits. A regression: corrected with mean = "posterior".
  NetworkUse network_use() const override {
    if (!regression()) return NetworkUse::averaged;
    return posterior_mean() ? NetworkUse::corrected : NetworkUse::location;
  }
  const PosteriorChoice& choice() const { return choice_; }

 private:
  void check_posteriors() const;
  /// Throws std::invalid_argument if the posterior comes from a sample of the rows: a row outside the sample
  /// cannot be removed.
  void check_all_rows_known() const;
  bool regression() const { return trained_->head.is_regression(); }
  bool posterior_mean() const { return layer_.posterior.mean == "posterior"; }
  Predictive answer(const LastLayerRows& rows) const;  // rows on the CPU
  /// Returns the head of one output as data, for the features that last_layer_spec() describes.
  engine::LinearHead head_for_answers(const LinearPosterior& posterior) const;
  /// Returns the features for answers with their weights on this device; nullopt for the CPU, where network_
  /// has them.
  std::optional<LastLayerFeatures> moved_to(at::Device device) const;

  LastLayer layer_;
  std::shared_ptr<const TrainedNetwork> trained_;
  std::vector<LinearPosterior> outputs_;  // one per output
  bool sampled_;                          // LastLayerPosterior::sampled
  Summary summary_;
  PosteriorChoice choice_;     // noise and prior that the fit chose; not in the model file
  LastLayerFeatures network_;  // features for answers (answer_features)
  /// Features for the rows that updated() learns or removes (statistics_features). The first update makes
  /// them; later updates reuse them.
  std::optional<LastLayerFeatures> exact_;
};

}  // namespace slimbayes
