// Classes. The Bernoulli integrals are one-dimensional, so a Gauss rule serves; the softmax has no such reduction, and
// k logits per row are drawn. Draws come as z and -z: what is odd in z, the mean logit's error first of all, cancels.
// Both rules have positive weights, so Jensen's inequality holds for them exactly: the mutual information is never
// negative but for rounding.

#include "slimbayes/core/class_likelihood.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr int64_t kElements = int64_t{1} << 22;  // of a block of draws

at::Tensor log_one_plus_exp(const at::Tensor& f) { return f.clamp_min(0) + at::log1p(at::exp(-f.abs())); }

void check_one(const Latent& f, const char* function) {
  check_shape(f.mean, {-1}, function, "mean");
  check_shape(f.epistemic_var, {f.mean.size(0)}, function, "epistemic_var");
}

void check_many(const Latent& f, const char* function) {
  check_shape(f.mean, {-1, -1}, function, "mean");
  check_shape(f.epistemic_var, f.mean.sizes(), function, "epistemic_var");
}

// f at the nodes. [b, q]
at::Tensor at_nodes(const Latent& f, const Quadrature& rule) {
  at::Tensor nodes = rule.nodes.to(f.mean.scalar_type());
  // A variance of exactly 0 has no derivative of its root; the smallest normal number has a harmless one.
  double tiny = f.mean.scalar_type() == at::kDouble ? 1e-300 : 1e-30;
  return f.mean.unsqueeze(1) + f.epistemic_var.clamp_min(tiny).sqrt().unsqueeze(1) * nodes;
}

// -p log p, 0 at 0.
at::Tensor entropy_term(const at::Tensor& p) { return -at::special_xlogy(p, p); }

}  // namespace

void check_classes(const at::Tensor& y, int64_t classes, std::string_view function) {
  check_shape(y, {-1}, function, "y");
  at::Tensor bad = ((y < 0) | (y >= classes) | (y != at::floor(y))).nonzero();
  if (bad.size(0) == 0) return;
  int64_t row = bad[0][0].item<int64_t>();
  check(false, function, fmt::format("class numbers 0 to {}", classes - 1),
        fmt::format("{} in row {} (from 0)", y[row].item<double>(), row));
}

const Quadrature& BernoulliLikelihood::standard_rule() {
  static const Quadrature rule = gauss_hermite(64);
  return rule;
}

at::Tensor BernoulliLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_one(f, "expected_log_prob");
  check_shape(y, f.mean.sizes(), "expected_log_prob", "y");
  check_classes(y, 2, "expected_log_prob");
  return y * f.mean - at::mv(log_one_plus_exp(at_nodes(f, rule)), rule.weights.to(f.mean.scalar_type()));
}

at::Tensor BernoulliLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  check_one(f, "log_predictive");
  check_shape(y, f.mean.sizes(), "log_predictive", "y");
  check_classes(y, 2, "log_predictive");
  at::Tensor sign = (2 * y - 1).unsqueeze(1).to(f.mean.scalar_type());
  at::Tensor log_weights = at::log(rule.weights).to(f.mean.scalar_type());
  return at::logsumexp(log_weights - log_one_plus_exp(-sign * at_nodes(f, rule)), 1);
}

Predictive BernoulliLikelihood::predictive(const Latent& f) const {
  check_one(f, "predictive");
  at::NoGradGuard no_grad;
  at::Tensor logits = at_nodes({f.mean.to(at::kDouble), f.epistemic_var.to(at::kDouble)}, rule);
  at::Tensor yes = at::sigmoid(logits), no = at::sigmoid(-logits);  // [b, q]
  at::Tensor p = at::stack({at::mv(no, rule.weights), at::mv(yes, rule.weights)}, 1);
  p = p / p.sum(1, true);
  return Classes{p, entropy_term(p).sum(1), at::mv(entropy_term(yes) + entropy_term(no), rule.weights),
                 f.zeroed};
}

at::Tensor SoftmaxLikelihood::log_prob_draws(const Latent& f) const {
  int64_t half = (samples + 1) / 2, b = f.mean.size(0), k = f.mean.size(1);
  at::Tensor z = stream.normal({half, shared ? 1 : b, k}, f.mean.scalar_type());
  z = at::cat({z, -z});  // [S, 1 or b, k]
  double tiny = f.mean.scalar_type() == at::kDouble ? 1e-300 : 1e-30;
  return at::log_softmax(f.mean + f.epistemic_var.clamp_min(tiny).sqrt() * z, -1);
}

at::Tensor SoftmaxLikelihood::log_prob_draws(const Latent& f, const at::Tensor& y,
                                             const char* function) const {
  check_many(f, function);
  check(samples > 0, function, "at least one sample", std::to_string(samples));
  int64_t b = f.mean.size(0);
  check_shape(y, {b}, function, "y");
  check_classes(y, f.mean.size(1), function);
  at::Tensor draws = log_prob_draws(f);
  at::Tensor index = y.to(at::kLong).reshape({1, b, 1}).expand({draws.size(0), b, 1});
  return draws.gather(2, index).squeeze(2);
}

at::Tensor SoftmaxLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  return log_prob_draws(f, y, "expected_log_prob").mean(0);
}

at::Tensor SoftmaxLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  at::Tensor draws = log_prob_draws(f, y, "log_predictive");
  return at::logsumexp(draws, 0) - std::log(static_cast<double>(draws.size(0)));
}

Predictive SoftmaxLikelihood::predictive(const Latent& f) const {
  check_many(f, "predictive");
  check(samples > 0, "predictive", "at least one sample", std::to_string(samples));
  at::NoGradGuard no_grad;
  SoftmaxLikelihood same = *this;
  same.shared = true;
  at::Tensor mean = f.mean.to(at::kDouble), var = f.epistemic_var.to(at::kDouble);
  int64_t n = mean.size(0), k = mean.size(1);
  int64_t block = std::max<int64_t>(1, kElements / ((samples + 1) * k));
  at::Tensor p = at::empty({n, k}, at::kDouble), expected = at::empty({n}, at::kDouble);
  for (int64_t low = 0; low < n; low += block) {
    int64_t size = std::min(block, n - low);
    at::Tensor log_p = same.log_prob_draws({mean.narrow(0, low, size), var.narrow(0, low, size)});
    at::Tensor each = at::exp(log_p);
    p.narrow(0, low, size).copy_(each.mean(0));
    expected.narrow(0, low, size).copy_(-(each * log_p).sum(-1).mean(0));
  }
  p = p / p.sum(1, true);
  return Classes{p, entropy_term(p).sum(1), expected, f.zeroed};
}

}  // namespace slimbayes
