// How expectations over the Gaussian posterior of the logits are computed.
//
// Bernoulli: with one logit f ~ N(m, s^2) every expectation is an integral over f. Gauss-Hermite quadrature
// is accurate if s is at most a few times the width of the sigmoid. For a large s the sigmoid is a step that
// falls between two nodes, and the quadrature fails. The integral is then taken over a logistic variable L
// instead: sigmoid(f) = P(L < f), so E[sigmoid(f)] = E_L[Phi((m - L) / s)]. As a function of L this integrand
// is smooth for every s, and the trapezoid rule has an error below rounding (Trefethen and Weideman, SIAM
// Review 2014). E[log P] always uses Gauss-Hermite quadrature, because log P has a kink instead of a step and
// training needs it and its gradient at every step.
// Softmax: with k logits there is no one-dimensional integral, so the logits are drawn at random. Draws come
// in pairs z and -z. This cancels the error of every odd function of z, above all that of the mean logit.
// Quadrature and draws both average with positive weights. By Jensen's inequality the mutual information is
// therefore never negative, except for quadrature errors.

#include "slimbayes/answers/class_likelihood.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <vector>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

constexpr int64_t kElements = int64_t{1} << 22;  // most elements of a block of draws, to limit memory

at::Tensor log_one_plus_exp(const at::Tensor& f) { return f.clamp_min(0) + at::log1p(at::exp(-f.abs())); }

void check_one(const Latent& f, const char* function) {
  check_shape(f.mean, {-1}, function, "mean");
  check_shape(f.epistemic_var, {f.mean.size(0)}, function, "epistemic_var");
}

void check_many(const Latent& f, const char* function) {
  check_shape(f.mean, {-1, -1}, function, "mean");
  check_shape(f.epistemic_var, f.mean.sizes(), function, "epistemic_var");
}

/// Checks the classes of a batch. On another device than the CPU they are not read, so that a step of a
/// training does not wait; training_rows() has checked them.
void check_labels(const at::Tensor& y, int64_t classes, const char* function) {
  if (y.is_cpu()) check_classes(y, classes, function);
}

/// Returns the rule in the type and on the device of `like`. The standard rule is copied to a device once,
/// since every step of a training needs it.
Quadrature rule_like(const Quadrature& rule, const at::Tensor& like) {
  const auto moved = [&] {
    return Quadrature{rule.nodes.to(like.options()), rule.weights.to(like.options())};
  };
  static const Quadrature standard = BernoulliLikelihood().rule;
  if (like.is_cpu() || !rule.nodes.is_same(standard.nodes)) return moved();
  static std::mutex mutex;
  // Never destroyed: at the end of the process the device may be gone before.
  static std::vector<Quadrature>& kept = *new std::vector<Quadrature>();
  const std::lock_guard lock(mutex);
  for (const Quadrature& one : kept)
    if (one.nodes.device() == like.device() && one.nodes.scalar_type() == like.scalar_type()) return one;
  return kept.emplace_back(moved());
}

// Returns the logit of each row at each quadrature node, mean + sd node. `nodes` are like f.mean. [b, q]
at::Tensor at_nodes(const Latent& f, const at::Tensor& nodes) {
  // At a variance of 0 the derivative of the square root is infinite, and gradients would be NaN. A tiny
  // positive variance gives a finite derivative and leaves f unchanged.
  double tiny = f.mean.scalar_type() == at::kDouble ? 1e-300 : 1e-30;
  return f.mean.unsqueeze(1) + f.epistemic_var.clamp_min(tiny).sqrt().unsqueeze(1) * nodes;
}

constexpr double kWide = 9;    // variance of f above which the integral over L is used
constexpr double kReach = 38;  // the trapezoid rule covers [-38, 38]; e^-38 is below rounding
constexpr double kStep = 0.5;  // distance between two nodes of the trapezoid rule

/// The nodes of the trapezoid rule over the logistic variable L, and the logarithms of its weights. [q] each
struct Line {
  at::Tensor nodes, log_weights;
};

Line trapezoid() {
  at::Tensor nodes = at::arange(-kReach, kReach + kStep / 2, kStep, at::kDouble);
  at::Tensor weights = at::full_like(nodes, kStep);
  weights[0] = weights[-1] = kStep / 2;
  return {nodes, weights.log()};
}

/// Returns log E[sigmoid(f)] for f ~ N(mean, sd^2) with a large sd, as the sum of two parts of the integral
/// over the logistic variable L: the trapezoid rule for L in [-38, 38], and a closed form for L < -38. In
/// that tail the density of L is e^L, which gives E[e^min(f, -38)]. mean, sd and the result have shape [b].
at::Tensor log_sigmoid_of_wide(const at::Tensor& mean, const at::Tensor& sd) {
  static const Line line = trapezoid();
  at::Tensor nodes = line.nodes.to(mean.options());
  at::Tensor log_density = line.log_weights.to(mean.options()) - nodes - 2 * log_one_plus_exp(-nodes);
  at::Tensor inside =
      at::logsumexp(log_density + at::special_log_ndtr((mean.unsqueeze(1) - nodes) / sd.unsqueeze(1)), 1);
  // The tail splits at f = -38. Its part with f < -38 is E[e^f; f < -38] = e^(mean + var / 2) Phi(-a),
  // a = sd - u. For a large sd the logs of these two factors are large and cancel. If a > 0, Phi(-a) is
  // therefore written as erfcx(a / sqrt 2) e^(-a^2 / 2) / 2, so that the exponents can be added on paper:
  // they give -38 - u^2 / 2.
  at::Tensor u = (-kReach - mean) / sd, a = sd - u;
  at::Tensor cancelled = at::special_erfcx(a.clamp_min(0) / std::numbers::sqrt2);
  at::Tensor far = -kReach - 0.5 * u.square() + at::log(0.5 * cancelled);
  at::Tensor near = mean + 0.5 * sd.square() + at::special_log_ndtr((-a).clamp_min(0));
  at::Tensor left_tail =
      at::logaddexp(at::where(a > 0, far, near), at::special_log_ndtr((mean + kReach) / sd) - kReach);
  return at::logaddexp(inside, left_tail);
}

// Returns -p log p for each element, and 0 where p = 0.
at::Tensor entropy_term(const at::Tensor& p) { return -at::special_xlogy(p, p); }

at::Tensor entropy_of_sigmoid(const at::Tensor& f) {
  return entropy_term(at::sigmoid(f)) + entropy_term(at::sigmoid(-f));
}

// Returns one logit for each of the C classes in float64, without gradients. logits [n, 1] become (-f / 2,
// f / 2), whose softmax is (sigmoid(-f), sigmoid(f)); logits [n, k] stay as they are. [n, C]
at::Tensor logit_per_class(const at::Tensor& logits) {
  const at::Tensor f = logits.detach().to(at::kDouble);
  return f.size(1) == 1 ? at::cat({-f, f}, 1) / 2 : f;
}

}  // namespace

Classes classes_of_logits(const at::Tensor& logits) {
  check_shape(logits, {-1, -1}, "classes_of_logits", "logits");
  const at::Tensor all = logit_per_class(logits);
  const at::Tensor p = at::softmax(all, -1), entropy = -at::special_xlogy(p, p).sum(-1);
  return {p, entropy, entropy};
}

at::Tensor energy(const at::Tensor& logits) {
  check_shape(logits, {-1, -1}, "energy", "logits");
  return -at::logsumexp(logit_per_class(logits), {1});
}

Scores logit_scores(const Latent& f) {
  check_many(f, "logit_scores");
  const at::Tensor predicted = f.mean.argmax(1, /*keepdim=*/true);
  return {{"energy", energy(f.mean)}, {"logit_var", f.epistemic_var.gather(1, predicted).squeeze(1)}};
}

void check_classes(const at::Tensor& y, int64_t classes, std::string_view function) {
  check_shape(y, {-1}, function, "y");
  at::Tensor bad = ((y < 0) | (y >= classes) | (y != at::floor(y))).nonzero();
  if (bad.size(0) == 0) return;
  int64_t row = bad[0][0].item<int64_t>();
  refuse(function, fmt::format("class numbers 0 to {}", classes - 1),
         fmt::format("{} in row {} (from 0)", y[row].item<double>(), row));
}

const Quadrature& BernoulliLikelihood::standard_rule() {
  static const Quadrature rule = gauss_hermite(64);
  return rule;
}

at::Tensor BernoulliLikelihood::expected_log_prob(const Latent& f, const at::Tensor& y) const {
  check_one(f, "expected_log_prob");
  check_shape(y, f.mean.sizes(), "expected_log_prob", "y");
  check_labels(y, 2, "expected_log_prob");
  const Quadrature own = rule_like(rule, f.mean);
  return y * f.mean - at::mv(log_one_plus_exp(at_nodes(f, own.nodes)), own.weights);
}

at::Tensor BernoulliLikelihood::log_predictive(const Latent& f, const at::Tensor& y) const {
  check_one(f, "log_predictive");
  check_shape(y, f.mean.sizes(), "log_predictive", "y");
  check_labels(y, 2, "log_predictive");
  at::Tensor sign = (2 * y - 1).to(f.mean.scalar_type());
  at::Tensor log_weights = at::log(rule.weights).to(f.mean.options());
  at::Tensor terms = log_one_plus_exp(-sign.unsqueeze(1) * at_nodes(f, rule_like(rule, f.mean).nodes));
  at::Tensor narrow = at::logsumexp(log_weights - terms, 1);
  at::Tensor wide = f.epistemic_var > kWide;
  if (wide.is_cpu() && !wide.any().item<bool>()) return narrow;
  at::Tensor sd = f.epistemic_var.clamp_min(kWide).sqrt();
  return at::where(wide, log_sigmoid_of_wide(sign * f.mean, sd), narrow);
}

Predictive BernoulliLikelihood::predictive(const Latent& f) const {
  check_one(f, "predictive");
  at::NoGradGuard no_grad;
  Latent g{f.mean.to(at::kDouble), f.epistemic_var.to(at::kDouble)};
  at::Tensor one = at::ones_like(g.mean);
  at::Tensor p = at::stack({log_predictive(g, 0 * one), log_predictive(g, one)}, 1).exp();
  p = p / p.sum(1, true);
  at::Tensor logits = at_nodes(g, rule.nodes.to(g.mean.options()));  // [b, q]
  at::Tensor expected = at::mv(entropy_of_sigmoid(logits), rule.weights);
  if (at::Tensor wide = g.epistemic_var > kWide; wide.any().item<bool>()) {
    static const Line line = trapezoid();
    at::Tensor sd = g.epistemic_var.clamp_min(kWide).sqrt().unsqueeze(1);
    at::Tensor z = (line.nodes - g.mean.unsqueeze(1)) / sd;
    at::Tensor density =
        at::exp(line.log_weights - 0.5 * z.square()) / (sd * std::sqrt(2 * std::numbers::pi));
    expected = at::where(wide, at::mv(density, entropy_of_sigmoid(line.nodes)), expected);
  }
  return Classes{p, entropy_term(p).sum(1), expected, f.zeroed};
}

at::Tensor SoftmaxLikelihood::draws(int64_t rows, int64_t classes, const at::TensorOptions& options) const {
  const at::Tensor z = stream.normal({(samples + 1) / 2, rows, classes}, options);
  return at::cat({z, -z});
}

at::Tensor SoftmaxLikelihood::log_prob_draws(const Latent& f) const {
  int64_t b = f.mean.size(0), k = f.mean.size(1);
  at::Tensor z = draws(shared ? 1 : b, k, f.mean.options());
  double tiny = f.mean.scalar_type() == at::kDouble ? 1e-300 : 1e-30;
  return at::log_softmax(f.mean + f.epistemic_var.clamp_min(tiny).sqrt() * z, -1);
}

at::Tensor SoftmaxLikelihood::log_prob_draws(const Latent& f, const at::Tensor& y,
                                             const char* function) const {
  check_many(f, function);
  if (!(samples > 0)) refuse(function, "at least one sample", std::to_string(samples));
  int64_t b = f.mean.size(0);
  check_shape(y, {b}, function, "y");
  check_labels(y, f.mean.size(1), function);
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

template <class LogProb>
Predictive SoftmaxLikelihood::averaged(int64_t n, int64_t k, int64_t zeroed, const LogProb& log_prob) const {
  if (!(samples > 0)) refuse("predictive", "at least one sample", std::to_string(samples));
  int64_t block = std::max<int64_t>(1, kElements / ((samples + 1) * k));
  at::Tensor p = at::empty({n, k}, at::kDouble), expected = at::empty({n}, at::kDouble);
  for (int64_t low = 0; low < n; low += block) {
    int64_t size = std::min(block, n - low);
    at::Tensor log_p = log_prob(low, size);
    at::Tensor each = at::exp(log_p);
    p.narrow(0, low, size).copy_(each.mean(0));
    expected.narrow(0, low, size).copy_(-(each * log_p).sum(-1).mean(0));
  }
  p = p / p.sum(1, true);
  return Classes{p, entropy_term(p).sum(1), expected, zeroed};
}

Predictive SoftmaxLikelihood::predictive(const Latent& f) const {
  check_many(f, "predictive");
  at::NoGradGuard no_grad;
  SoftmaxLikelihood same = *this;
  same.shared = true;
  at::Tensor mean = f.mean.to(at::kDouble), var = f.epistemic_var.to(at::kDouble);
  return averaged(mean.size(0), mean.size(1), f.zeroed, [&](int64_t low, int64_t size) {
    return same.log_prob_draws({mean.narrow(0, low, size), var.narrow(0, low, size)});
  });
}

Predictive SoftmaxLikelihood::predictive(const at::Tensor& mean, const at::Tensor& root,
                                         int64_t zeroed) const {
  check_shape(mean, {-1, -1}, "predictive", "mean");
  const int64_t n = mean.size(0), k = mean.size(1);
  check_shape(root, {n, k, k}, "predictive", "root");
  at::NoGradGuard no_grad;
  const at::Tensor centre = mean.to(at::kDouble), turn = root.to(at::kDouble);
  const at::Tensor z = draws(1, k, at::kDouble).squeeze(1).t();  // [k, S]
  return averaged(n, k, zeroed, [&](int64_t low, int64_t size) {
    const at::Tensor spread = at::matmul(turn.narrow(0, low, size), z).permute({2, 0, 1});  // [S, size, k]
    return at::log_softmax(centre.narrow(0, low, size) + spread, -1);
  });
}

}  // namespace slimbayes
