#pragma once

// The rivals of rich-bll on the wheel bandit: the linear and neural-linear policies of Riquelme, Tucker and
// Snoek (2018) and a variational Bayesian last layer per arm (Harrison et al. 2024). README.md of this folder
// says what their sources leave open and what was chosen.

#include <slimbayes/core/noise_variance.h>
#include <slimbayes/objectives/variational_bound.h>

#include <array>
#include <boost/math/special_functions/gamma.hpp>

#include "examples/last_layer_policy.h"

namespace wheel {

/// The prior of a linear model with unknown noise variance: sigma2 ~ InverseGamma(a, b), w | sigma2 ~ N(0,
/// sigma2 / lambda I).
struct ConjugatePrior {
  double a, b, lambda;
};
/// What the benchmark's code sets for its linear and neural-linear policies, and what it found for
/// neural-linear by tuning on the mushroom data (the suffix MR).
inline constexpr ConjugatePrior kDefaultPrior{6, 6, 0.25}, kMushroomPrior{12, 30, 23};

/// The normal-inverse-gamma posterior of a linear model.
struct ConjugatePosterior {
  double a, b;                  // of sigma2
  sb::LinearPosterior weights;  // N(w; weights, sigma2 H^-1), H = lambda I + Phi^T Phi
};

inline ConjugatePosterior conjugate_posterior(const sb::LinearStatistics& s, const ConjugatePrior& prior) {
  const at::Tensor factor = at::full({}, 1 / std::sqrt(prior.lambda), at::kDouble);
  sb::LinearPosterior weights = sb::linear_posterior(s, {1.0, factor});
  const double explained = s.c.dot(weights.weights).item<double>();
  return {prior.a + 0.5 * static_cast<double>(s.n), prior.b + 0.5 * (s.yy - explained), std::move(weights)};
}

/// Returns b / G with G ~ Gamma(a, 1), a draw of sigma2, for each uniform number. [n]
inline at::Tensor inverse_gamma(double a, double b, const at::Tensor& uniform) {
  at::Tensor draws = at::empty_like(uniform);
  for (int64_t i = 0; i < uniform.numel(); ++i)
    draws[i] = b / boost::math::gamma_p_inv(a, uniform[i].item<double>());
  return draws;
}

/// Thompson sampling from one conjugate linear model per arm: draws sigma2, then w, for every arm in every
/// context.
class ConjugatePolicy : public Policy {
 public:
  ConjugatePolicy(const ConjugatePrior& prior, int64_t rank, bool diagonal) : diagonal_(diagonal) {
    arms_.fill(conjugate_posterior(sb::linear_statistics(rank), prior));
    prior_ = prior;
  }

  Beliefs beliefs(const at::Tensor& context, const sb::Stream& stream) const override {
    std::vector<at::Tensor> means, draws;
    for (int64_t arm = 0; arm < kArms; ++arm) {
      const ConjugatePosterior& p = arms_.at(static_cast<size_t>(arm));
      const at::Tensor x = features(inputs_of(context, at::full({context.size(0)}, arm, at::kLong)));
      const sb::Stream own = stream.split(static_cast<uint64_t>(arm));
      const at::Tensor sigma2 = inverse_gamma(p.a, p.b, own.split("sigma2").uniform({x.size(0)}));
      means.push_back(sb::mean(p.weights, x));
      draws.push_back(means.back() + (sigma2 * var(p, x)).sqrt() * own.split("w").normal({x.size(0)}));
    }
    return {at::stack(means, 1), at::stack(draws, 1)};
  }

  void learn(const History& history, int64_t steps, const sb::Stream& stream) override {
    const Clock start;
    train(history, steps, stream);
    gradient_seconds += start.seconds();
    const Clock trained;
    const at::Tensor x = features(history.inputs());
    for (int64_t arm = 0; arm < kArms; ++arm) {
      const at::Tensor rows = at::nonzero(history.arm() == arm).squeeze(1);
      arms_.at(static_cast<size_t>(arm)) = conjugate_posterior(
          sb::added(sb::linear_statistics(x.size(1)),
                    {x.index_select(0, rows), history.reward().index_select(0, rows), {}}),
          prior_);
    }
    posterior_seconds += trained.seconds();
  }

 protected:
  virtual at::Tensor features(const at::Tensor& inputs) const = 0;  // [b, 7] -> [b, r]
  virtual void train(const History&, int64_t, const sb::Stream&) {}

 private:
  /// Returns phi^T H^-1 phi, or with the diagonal of H^-1 alone. [b]
  at::Tensor var(const ConjugatePosterior& p, const at::Tensor& x) const {
    if (!diagonal_) return sb::epistemic_var(p.weights, x);
    return x.square().mv(sb::epistemic_var(p.weights, at::eye(x.size(1), at::kDouble)));
  }

  ConjugatePrior prior_;
  bool diagonal_;
  std::array<ConjugatePosterior, kArms> arms_;
};

/// LinDiagPost: a linear model of the context with an intercept per arm, whose posterior covariance is
/// replaced by its diagonal.
class LinDiagPolicy : public ConjugatePolicy {
 public:
  explicit LinDiagPolicy(const ConjugatePrior& prior) : ConjugatePolicy(prior, 3, /*diagonal=*/true) {}

 protected:
  at::Tensor features(const at::Tensor& inputs) const override {
    const at::Tensor x = inputs.narrow(1, 0, 2).to(at::kDouble);
    return at::cat({x, at::ones({x.size(0), 1}, at::kDouble)}, 1);
  }
};

/// NeuralLinear: a linear model of the last hidden layer per arm; the network learns all rewards by squared
/// error. The features are the raw activations, without mu-P's multiplier and without an intercept.
class NeuralLinearPolicy : public ConjugatePolicy {
 public:
  NeuralLinearPolicy(const ConjugatePrior& prior, const TrainingOptions& options, const sb::Stream& stream)
      : NeuralLinearPolicy(prior, options, stream, wheel_network()) {}

 protected:
  at::Tensor features(const at::Tensor& inputs) const override {
    return network_.last_layer(inputs).features.narrow(1, 0, width_) / scale_;
  }
  void train(const History& history, int64_t steps, const sb::Stream& stream) override {
    network_.train(history, steps, stream.split("steps"));
  }

 private:
  NeuralLinearPolicy(const ConjugatePrior& prior, const TrainingOptions& options, const sb::Stream& stream,
                     const sb::NetworkSpec& spec)
      : ConjugatePolicy(prior, sb::output(body_of(spec)).width(), /*diagonal=*/false),
        network_(spec, options, stream.split("weights")),
        width_(sb::output(body_of(spec)).width()),
        scale_(std::get<sb::Linear>(spec.layers.back()).scales.weight) {}

  static sb::NetworkSpec body_of(sb::NetworkSpec spec) {
    spec.layers.pop_back();
    return spec;
  }

  OnlineNetwork network_;
  int64_t width_;
  double scale_;
};

/// A variational Bayesian last layer per arm: q_a(w) = N(m_a, L_a L_a^T) over phi_r(x), trained with the
/// network and the noise variance on the evidence lower bound of all pulls so far. Draws the reward of arm a
/// from q_a.
class VbllPolicy : public Policy {
 public:
  VbllPolicy(const TrainingOptions& options, const sb::Stream& stream)
      : VbllPolicy(options, stream, wheel_network()) {}

  Beliefs beliefs(const at::Tensor& context, const sb::Stream& stream) const override {
    const at::NoGradGuard no_grad;
    const at::Tensor phi = features(all_inputs(context)).reshape({-1, kArms, rank_});
    std::vector<at::Tensor> means, vars;
    const Heads heads_by_arm = by_arm();
    for (int64_t arm = 0; arm < kArms; ++arm) {
      const sb::Latent f = heads_by_arm.latent(arm, phi.select(1, arm));
      means.push_back(f.mean);
      vars.push_back(f.epistemic_var);
    }
    const at::Tensor mean = at::cat(means, 1).to(at::kDouble), var = at::cat(vars, 1).to(at::kDouble);
    return {mean, mean + var.sqrt() * stream.normal(mean.sizes())};
  }

  void learn(const History& history, int64_t steps, const sb::Stream& stream) override {
    const Clock start;
    training_.train(history, steps, stream.split("steps"),
                    [&](const at::Tensor& x, const at::Tensor& arm, const at::Tensor& reward) {
                      return loss(x, arm, reward, history.size());
                    });
    gradient_seconds += start.seconds();
  }

  /// Returns the bound's negative per pull: -mean E_q log N(reward; f, sigma2) + 1 / n sum_a KL(q_a || N(0,
  /// I)). Differentiable; scalar.
  at::Tensor loss(const at::Tensor& x, const at::Tensor& arm, const at::Tensor& reward, int64_t n) const {
    const at::Tensor phi = features(x);
    const Heads heads_by_arm = by_arm();
    std::vector<at::Tensor> means, vars, rewards;
    for (int64_t a = 0; a < kArms; ++a) {
      const at::Tensor rows = at::nonzero(arm == a).squeeze(1);
      if (rows.size(0) == 0) continue;
      const sb::Latent f = heads_by_arm.latent(a, phi.index_select(0, rows));
      means.push_back(f.mean);
      vars.push_back(f.epistemic_var);
      rewards.push_back(reward.index_select(0, rows));
    }
    const sb::GaussianLikelihood likelihood{noise_(tensor("noise"))};
    return sb::variational_bound(likelihood, {at::cat(means), at::cat(vars)}, at::cat(rewards),
                                 {heads(), static_cast<double>(n)})
        .total;
  }

  sb::VariationalPosterior heads() const {  // of all arms
    return {tensor("mean"), tensor("log_diagonal"), tensor("lower")};
  }
  /// Returns phi_r as in rich-bll: mu-P's multiplier times the last hidden layer, and 1. [b, r]
  at::Tensor features(const at::Tensor& x) const {
    return at::cat({scale_ * network_(x), at::ones({x.size(0), 1}, x.options())}, 1);
  }
  double noise_var() const { return noise_(tensor("noise").item<double>()); }

 private:
  VbllPolicy(const TrainingOptions& options, const sb::Stream& stream, const sb::NetworkSpec& full)
      : body_(full),
        scale_(std::get<sb::Linear>(full.layers.back()).scales.weight),
        noise_(sb::expected_noise()),
        training_(without_output(body_, noise_, stream),
                  {{"network", {options.rate}},
                   {"head", {options.rate}},
                   {"noise", {sb::expected_noise().noise_rate}}},
                  options),
        network_(body_, "network", [this](const std::string& name) { return tensor(name); }),
        rank_(sb::output(body_).width() + 1) {}

  /// Takes the output layer off `spec`, and returns the initial values of the rest, of the heads (as those of
  /// vbll) and of the noise.
  static std::vector<sb::ParameterSpec> without_output(sb::NetworkSpec& spec, const sb::NoiseVariance& noise,
                                                       const sb::Stream& stream) {
    spec.layers.pop_back();
    const int64_t r = sb::output(spec).width() + 1;
    const auto size = static_cast<double>(r);
    auto specs = sb::network_parameters(spec, "network", "network", stream.split("weights"));
    specs.push_back({"mean", "head", at::zeros({kArms, r}, at::kDouble)});
    specs.push_back({"log_diagonal", "head", at::full({kArms, r}, -0.5 * std::log(size), at::kDouble)});
    specs.push_back({"lower", "head", stream.split("lower").normal({kArms, r, r}) / size});
    specs.push_back({"noise", "noise", at::full({}, noise.start("wheel"), at::kDouble)});
    return specs;
  }

  const at::Tensor& tensor(const std::string& name) const { return training_.parameters[name]; }
  /// Means and factors split once: the gradient of a split is one concatenation, that of five slices five
  /// tensors of the full size.
  struct Heads {
    std::vector<at::Tensor> mean, factor;  // [1, r] and [1, r, r]
    sb::Latent latent(int64_t arm, const at::Tensor& phi) const {
      const auto a = static_cast<size_t>(arm);
      return sb::VariationalPosterior{mean[a], {}, {}}.latent(phi, at::zeros({1}, at::kFloat), factor[a]);
    }
  };
  Heads by_arm() const {
    const sb::VariationalPosterior all = heads();
    return {all.mean.split(1), all.factor().split(1)};
  }

  sb::NetworkSpec body_;  // all layers but the last
  double scale_;          // the last layer's multiplier
  sb::NoiseVariance noise_;
  OnlineTraining training_;
  sb::BoundNetwork network_;
  int64_t rank_;
};

}  // namespace wheel
