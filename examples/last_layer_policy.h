#pragma once

// Thompson sampling with the last layer of a network that learns while it acts: bll and rich-bll, from the
// pieces that the methods of these names are made of.

#include <ATen/core/grad_mode.h>
#include <slimbayes/catalog/network/networks.h>
#include <slimbayes/catalog/network/parametrisation.h>
#include <slimbayes/core/gaussian_linear.h>
#include <slimbayes/core/linalg.h>
#include <slimbayes/method/parameter_groups.h>
#include <slimbayes/methods/last_layer/last_layer_features.h>
#include <slimbayes/ntk/enrichment.h>
#include <slimbayes/train/adamw.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wheel.h"

namespace wheel {

namespace sb = slimbayes;

struct TrainingOptions {
  double rate = 3e-3, clip = 1;  // of Adam, and the norm to which a gradient is clipped
  int64_t batch = 512;           // pulls drawn with replacement; all of them while there are fewer
};

/// Parameters that are trained on a history by Adam.
class OnlineTraining {
 public:
  OnlineTraining(const std::vector<sb::ParameterSpec>& specs, std::map<std::string, sb::GroupRate> rates,
                 const TrainingOptions& options)
      : parameters(specs, at::kFloat),
        adam_(sb::parameter_groups(parameters, rates)),
        rates_(std::move(rates)),
        options_(options) {}

  /// Takes `steps` gradient steps of loss(inputs [b, 7], arm [b], reward [b]).
  template <class Loss>
  void train(const History& history, int64_t steps, const sb::Stream& stream, const Loss& loss) {
    const at::Tensor inputs = history.inputs(), arm = history.arm(), reward = history.reward();
    const int64_t n = history.size(), b = std::min(n, options_.batch);
    for (int64_t step = 0; step < steps; ++step) {
      adam_.zero_grad();
      if (b == n) {
        loss(inputs, arm, reward).backward();
      } else {
        const at::Tensor rows =
            (static_cast<double>(n) * stream.split(static_cast<uint64_t>(step)).uniform({b})).to(at::kLong);
        loss(inputs.index_select(0, rows), arm.index_select(0, rows), reward.index_select(0, rows))
            .backward();
      }
      clip();
      adam_.step(1);
    }
  }

  sb::Parameters parameters;

 private:
  void clip() {
    double square = 0;
    for (const auto& [group, rate] : rates_)
      square += parameters.grads(group).square().sum(at::kDouble).item<double>();
    if (square <= options_.clip * options_.clip) return;
    for (const auto& [group, rate] : rates_) parameters.grads(group).mul_(options_.clip / std::sqrt(square));
  }

  sb::AdamW adam_;
  std::map<std::string, sb::GroupRate> rates_;
  TrainingOptions options_;
};

/// Returns the network of the wheel: two hidden layers of `width` with ReLU and one output, in mu-P with the
/// reference width 100.
inline sb::NetworkSpec wheel_network(int64_t width = 100) {
  sb::NetworkSpec spec = sb::mlp(kInputs, width, 2, "relu");
  spec.layers.push_back(sb::Linear{1});
  return sb::parametrised(spec, "mup", 100);
}

/// The network as it learns from the history by squared error.
class OnlineNetwork {
 public:
  OnlineNetwork(const sb::NetworkSpec& network, const TrainingOptions& options, const sb::Stream& stream)
      : spec(network),
        training_(sb::network_parameters(network, "network", "network", stream),
                  {{"network", {options.rate}}}, options),
        network_(network, "network", lookup()),
        features_(network, lookup(), "wheel") {}

  void train(const History& history, int64_t steps, const sb::Stream& stream) {
    training_.train(history, steps, stream,
                    [this](const at::Tensor& x, const at::Tensor&, const at::Tensor& reward) {
                      return at::mse_loss(network_(x).squeeze(1), reward);
                    });
  }

  /// Returns the last layer at these inputs [b, 7], in float64 and without a graph.
  sb::LastLayerRows last_layer(const at::Tensor& inputs) const {
    const at::NoGradGuard no_grad;
    const sb::LastLayerRows rows = features_(inputs);
    return {rows.features.to(at::kDouble), rows.output.to(at::kDouble)};
  }
  int64_t rank() const { return features_.rank(); }  // r
  sb::Network::Lookup lookup() const {
    return [this](const std::string& name) { return training_.parameters[name]; };
  }

  const sb::NetworkSpec spec;

 private:
  OnlineTraining training_;
  sb::BoundNetwork network_;
  sb::LastLayerFeatures features_;
};

struct LastLayerPolicyOptions {
  bool enriched = true;  // rich-bll; false: bll, that is A = 0
  int64_t subsample =
      0;                 // pulls that A and the posterior are computed from; 0: all, as while there are fewer
  int64_t window = 20;   // pulls whose mean squared error is the noise variance
  double noise_var = 0;  // a fixed noise variance instead; 0: the window's
  std::string route = "auto";  // of A^T A (slimbayes/ntk/enrichment.h)
  TrainingOptions training = {};
};

/// Draws the reward of each arm from N(f, S), arm by arm: f is the network, S the variance of its last layer,
/// phi_r^T (Phi_r^T Phi_r / sigma2 + (I + A^T A)^-1)^-1 phi_r (R equation 13, docs/references.md), with the
/// prior sd 1. A is the projection of the gradients of all earlier parameters on phi_r; a gradient is that of
/// the output in one context for one arm. The noise variance sigma2 is the mean squared error of the last
/// predictions.
class LastLayerPolicy : public Policy {
 public:
  LastLayerPolicy(const LastLayerPolicyOptions& options, const sb::Stream& stream)
      : options_(options),
        network_(wheel_network(), options.training, stream.split("weights")),
        posterior_(sb::linear_posterior(sb::linear_statistics(network_.rank()), {1.0, {}})) {
    sb::check(options.subsample == 0 || options.subsample >= network_.rank(), "wheel",
              "a subsample of at least " + std::to_string(network_.rank()) + " pulls, one per feature",
              std::to_string(options.subsample), "raise it, or use 0 for all pulls");
  }

  Beliefs beliefs(const at::Tensor& context, const sb::Stream& stream) const override {
    const sb::LastLayerRows rows = network_.last_layer(all_inputs(context));
    const at::Tensor mean = rows.output.reshape({-1, kArms});
    const at::Tensor var = sb::epistemic_var(posterior_, rows.features).reshape({-1, kArms});
    return {mean, mean + var.sqrt() * stream.normal(mean.sizes())};
  }

  void learn(const History& history, int64_t steps, const sb::Stream& stream) override {
    const Clock start;
    network_.train(history, steps, stream.split("steps"));
    gradient_seconds += start.seconds();
    const Clock trained;
    rebuild(history, stream);
    posterior_seconds += trained.seconds();
  }

  const sb::LinearPosterior& posterior() const { return posterior_; }

 private:
  void rebuild(const History& history, const sb::Stream& stream) {
    at::Tensor inputs = history.inputs();
    const int64_t n = history.size(), k = options_.subsample;
    const bool sampled = k > 0 && k < n;
    if (sampled) {
      const at::Tensor some = stream.split("subsample").permutation(n).narrow(0, 0, k);
      inputs = inputs.index_select(0, some);
    }
    const at::Tensor features = network_.last_layer(inputs).features;
    at::Tensor factor;  // of the prior covariance; undefined: the identity
    if (options_.enriched) {
      const sb::GradientModel model =
          sb::gradient_model(network_.spec, "network", network_.lookup(), at::kFloat);
      const sb::GradientRows rows{
          inputs.size(0), [&](int64_t from, int64_t to) { return sb::Input(inputs.slice(0, from, to)); }};
      const sb::Enrichment found =
          sb::enrichment(model, rows, sb::projector(features), {options_.route}, stream.split("enrichment"));
      factor = sb::safe_cholesky(found.gram + at::eye(features.size(1), at::kDouble)).factor;
    }
    // The targets do not count: the mean is the network's.
    sb::LinearStatistics sums = sb::added(sb::linear_statistics(network_.rank()),
                                          {features, at::zeros({features.size(0)}, at::kDouble), {}});
    if (sampled) sums = sb::scaled(sums, static_cast<double>(n) / static_cast<double>(k), n);
    const double noise_var =
        options_.noise_var > 0 ? options_.noise_var : history.recent_error(options_.window);
    posterior_ = sb::linear_posterior(sums, {noise_var, factor});
  }

  LastLayerPolicyOptions options_;
  OnlineNetwork network_;
  sb::LinearPosterior posterior_;
};

}  // namespace wheel
