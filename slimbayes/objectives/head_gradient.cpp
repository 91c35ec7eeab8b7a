#include "slimbayes/objectives/head_gradient.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <optional>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

// Notation: Phi [b, r] are the features of the batch, L is the Cholesky factor of the posterior covariance of
// the weights, A = Phi L, u_i = |A_i|^2 + correction_i is the variance of f at row i, and e_i = y_i - mean_i
// the error of its mean. The data term of the loss is the mean over the b rows of
//   predictive  1/2 (log 2 pi v_i + e_i^2 / v_i), v_i = u_i + noise
//               d/du_i = (1 - e_i^2 / v_i) / (2 b v_i) = d/dnoise_i, d/dmean_i = -e_i / (b v_i)
//   student     -log of the Student-t density with mean_i, variance v_i and nu degrees of freedom,
//               log Gamma(nu/2) - log Gamma((nu+1)/2) + 1/2 log(pi (nu-2) v_i) + (nu+1)/2 log(1 + q_i) with
//               q_i = e_i^2 / ((nu-2) v_i)
//               d/du_i = (1 - (nu+1) q_i / (1 + q_i)) / (2 b v_i) = d/dnoise_i,
//               d/dmean_i = -(nu+1) e_i / (b (nu-2) v_i (1 + q_i)),
//               d/dnu = mean of 1/2 (psi(nu/2) - psi((nu+1)/2) + 1/(nu-2) + log(1 + q_i)
//               - (nu+1)/(nu-2) q_i / (1 + q_i))
//   expected    1/2 (log 2 pi noise + (e_i^2 + u_i) / noise)
//               d/du_i = 1 / (2 b noise), d/dmean_i = -e_i / (b noise),
//               d/dnoise_i = (1 - (e_i^2 + u_i) / noise) / (2 b noise)
// where d/dnoise_i is the part of row i in the derivative with respect to the one noise variance. The trace
// regulariser, alpha times the mean over the batch of (max_j |Phi_j|^2 - |Phi_i|^2) / (2 noise), adds alpha /
// noise (1[i = argmax_j |Phi_j|^2] - 1/b) Phi_i to the gradient with respect to Phi_i.

namespace slimbayes {

namespace {

// A number of the formulas, such as the noise variance: a double where the parameters are on the CPU, else a
// float64 scalar on their device, which no formula reads.
double log_of(double x) { return std::log(x); }
at::Tensor log_of(const at::Tensor& x) { return x.log(); }
double lgamma_of(double x) { return std::lgamma(x); }
at::Tensor lgamma_of(const at::Tensor& x) { return x.lgamma(); }
double digamma_of(double x) { return boost::math::digamma(x); }
at::Tensor digamma_of(const at::Tensor& x) { return x.digamma(); }

/// Returns a tensor like `like` that holds x everywhere.
at::Tensor filled(const at::Tensor& like, double x) { return at::full_like(like, x); }
at::Tensor filled(const at::Tensor& like, const at::Tensor& x) {
  return x.to(like.scalar_type()).expand_as(like);
}

/// The data term of each row before averaging, and the derivatives of its mean over the batch.
struct DataGradient {
  at::Tensor loss;        // [b], not yet averaged
  at::Tensor grad_var;    // d/du [b]
  at::Tensor grad_noise;  // d/dnoise [b]
  at::Tensor grad_f;      // d/dmean [b]
  at::Tensor grad_dof;    // d/dnu
};

/// The weights of the rows: v^focus, divided by their mean over the batch, which processes may share.
struct RowWeights {
  double focus = 0;
  std::optional<double> mean = {};  // nothing: that of these rows

  /// Returns the weights; undefined for focus = 0.
  at::Tensor operator()(const at::Tensor& var) const {
    if (focus <= 0) return {};
    at::Tensor weight = at::pow(var, focus);
    return mean ? weight.div_(*mean) : weight.div_(weight.mean());
  }
};

/// Returns the totals of a batch, as far as the gradient of a share of its rows depends on them. latent_var
/// [b]
template <class Number>
BatchTotals totals_of(const HeadBatch& batch, const at::Tensor& latent_var, const Number& noise, double focus,
                      double alpha) {
  const at::Tensor& phi = batch.features;
  BatchTotals own{.rows = static_cast<double>(phi.size(0))};
  if (!batch.join) return own;
  const at::Tensor var = latent_var + noise;
  if (focus > 0) own.weights = at::pow(var, focus).sum(at::kDouble).item<double>();
  if (alpha != 0) own.largest = at::linalg_vecdot(phi, phi).max().item<double>();
  return batch.join(own);
}

template <class Number>
DataGradient predictive(const at::Tensor& error, const at::Tensor& latent_var, const Number& noise,
                        const RowWeights& row_weights) {
  double b = static_cast<double>(error.size(0));
  at::Tensor var = latent_var + noise;     // v
  at::Tensor weighted = error / var;       // e / v
  at::Tensor surprise = weighted * error;  // e^2 / v
  DataGradient out;
  out.grad_var = (1 - surprise).div_(var).mul_(0.5 / b);
  out.loss = at::log(var).add_(surprise).add_(std::log(2 * std::numbers::pi)).mul_(0.5);
  if (const at::Tensor weight = row_weights(var); weight.defined()) {
    out.grad_var.mul_(weight);
    weighted.mul_(weight);
    out.loss.mul_(weight);
  }
  out.grad_noise = out.grad_var;
  out.grad_f = weighted.mul_(-1 / b);
  return out;
}

/// Computed in float64: for many degrees of freedom the terms of the derivative with respect to nu cancel.
template <class Number>
DataGradient student(const at::Tensor& error, const at::Tensor& latent_var, const Number& noise,
                     const Number& dof, const RowWeights& row_weights) {
  const auto b = static_cast<double>(error.size(0));
  const at::Tensor e = error.to(at::kDouble), var = latent_var.to(at::kDouble) + noise;
  const at::Tensor q = e.square() / ((dof - 2) * var), share = q / (1 + q), log_q = at::log1p(q);
  const Number constant =
      lgamma_of(dof / 2) - lgamma_of((dof + 1) / 2) + 0.5 * log_of(std::numbers::pi * (dof - 2));
  const Number slope = digamma_of(dof / 2) - digamma_of((dof + 1) / 2) + 1 / (dof - 2);
  at::Tensor loss = constant + 0.5 * var.log() + 0.5 * (dof + 1) * log_q,
             grad_var = (1 - (dof + 1) * share) / (2 * b * var),
             grad_f = -(dof + 1) * e / (b * (dof - 2) * var * (1 + q)),
             grad_dof = 0.5 * (slope + log_q - (dof + 1) / (dof - 2) * share);
  if (const at::Tensor weight = row_weights(var); weight.defined())
    for (at::Tensor* each : {&loss, &grad_var, &grad_f, &grad_dof}) each->mul_(weight);
  const auto type = error.scalar_type();
  const at::Tensor of_var = grad_var.to(type);
  return {loss.to(type), of_var, of_var, grad_f.to(type), grad_dof.mean()};
}

template <class Number>
DataGradient expected(const at::Tensor& error, const at::Tensor& latent_var, const Number& noise) {
  double b = static_cast<double>(error.size(0));
  at::Tensor surprise = (error.square() + latent_var).div_(noise);  // (e^2 + u) / noise
  DataGradient out;
  out.grad_var = filled(error, 0.5 / (b * noise));
  out.grad_noise = (1 - surprise).mul_(0.5 / (b * noise));
  out.grad_f = error * (-1 / (b * noise));
  out.loss = surprise.add(log_of(2 * std::numbers::pi * noise)).mul_(0.5);
  return out;
}

/// Adds alpha times the trace regulariser and its gradient.
void add_trace(HeadGradient& out, const HeadBatch& batch, double noise, double alpha,
               const BatchTotals& totals) {
  const at::Tensor& phi = batch.features;
  const auto b = static_cast<double>(phi.size(0));
  at::Tensor prior_var = at::linalg_vecdot(phi, phi);  // |phi|^2 [b]
  auto [most, which] = prior_var.max(0);
  const double spread = (batch.join ? totals.largest : most.item<double>()) - prior_var.mean().item<double>();
  out.loss.total.add_(alpha * spread / (2 * noise));
  int64_t largest = which.item<int64_t>();
  out.grad_features.add_(phi, -alpha / (noise * b));
  out.grad_features.select(0, largest).add_(phi.select(0, largest), totals.largest_weight * alpha / noise);
  out.grad_noise_var.sub_(alpha * spread / (2 * noise * noise));
}

/// The same without reading the maximum or its row.
void add_trace(HeadGradient& out, const HeadBatch& batch, const at::Tensor& noise, double alpha,
               const BatchTotals&) {
  const at::Tensor& phi = batch.features;
  const at::Tensor prior_var = at::linalg_vecdot(phi, phi);  // |phi|^2 [b]
  const auto [most, which] = prior_var.max(0);
  const at::Tensor penalty = alpha * (most.to(at::kDouble) - prior_var.mean().to(at::kDouble)) / (2 * noise);
  out.loss.total.add_(penalty.to(phi.scalar_type()));
  out.grad_noise_var.sub_((penalty / noise).to(phi.scalar_type()));
  const at::Tensor is_largest = at::arange(phi.size(0), which.options()) == which;
  const at::Tensor of_row =
      (is_largest.to(at::kDouble) - 1 / static_cast<double>(phi.size(0))) * (alpha / noise);
  out.grad_features.addcmul_(phi, of_row.to(phi.scalar_type()).unsqueeze(1));
}

/// head_gradient() with the noise variance and the degrees of freedom, if there are any, as numbers.
template <class Number>
HeadGradient gradient_of(const HeadBatch& batch, const HeadValues& head, const HeadObjective& objective,
                         double focus, const Number& noise, const std::optional<Number>& dof) {
  const at::Tensor &phi = batch.features, &correction = batch.correction;
  const VariationalPosterior& posterior = head.posterior;
  const auto r = static_cast<double>(phi.size(1));
  const double kl_weight = objective.beta / batch.rows, alpha = objective.alpha;
  const at::Tensor m = posterior.mean.squeeze(0);                           // [r]
  const at::Tensor diagonal = at::exp(posterior.log_diagonal).squeeze_(0);  // [r]
  at::Tensor factor = at::tril(posterior.lower, -1).squeeze_(0);            // [r, r]
  factor.diagonal().copy_(diagonal);

  at::Tensor a = at::mm(phi, factor);               // [b, r]
  at::Tensor latent_var = at::linalg_vecdot(a, a);  // u [b]
  if (correction.defined()) latent_var.add_(correction);
  at::Tensor error = batch.y - at::mv(phi, m).add_(head.offset);  // e [b]
  const bool of_predictive = objective.data == DataTerm::predictive;
  const BatchTotals totals = totals_of(batch, latent_var, noise, of_predictive ? focus : 0, alpha);
  const RowWeights row_weights{focus,
                               batch.join ? std::optional(totals.weights / totals.rows) : std::nullopt};
  DataGradient data = !of_predictive ? expected(error, latent_var, noise)
                      : dof          ? student(error, latent_var, noise, *dof, row_weights)
                                     : predictive(error, latent_var, noise, row_weights);

  HeadGradient out;
  out.loss.data = data.loss.mean();
  at::Tensor squares = at::dot(m, m) + factor.square().sum();
  out.loss.kl = (squares - 2 * posterior.log_diagonal.sum() - r).mul_(0.5);
  at::Tensor grad_a = a.mul_((2 * data.grad_var).unsqueeze_(-1));  // [b, r]
  out.grad_features = at::mm(grad_a, factor.t()).addr_(data.grad_f, m);
  out.grad_noise_var = data.grad_noise.sum();
  out.grad_dof = data.grad_dof;
  if (correction.defined()) out.grad_correction = data.grad_var;

  out.loss.total = out.loss.data + kl_weight * out.loss.kl;
  if (alpha != 0) add_trace(out, batch, noise, alpha, totals);

  out.grad_mean = at::mv(phi.t(), data.grad_f).add_(m, kl_weight).unsqueeze_(0);
  at::Tensor grad_factor = at::mm(phi.t(), grad_a).add_(factor, kl_weight);  // [r, r]
  out.grad_log_diagonal = (grad_factor.diagonal() * diagonal).sub_(kl_weight).unsqueeze_(0);
  out.grad_lower = grad_factor.tril_(-1).unsqueeze_(0);
  out.grad_offset = data.grad_f.sum().reshape({1});
  return out;
}

void check_data_term(const HeadValues& head, const HeadObjective& objective) {
  check(!head.dof.defined() || objective.data == DataTerm::predictive, "head_gradient",
        "a predictive data term beside degrees of freedom", "an expected one");
}

}  // namespace

HeadGradient head_gradient(const HeadBatch& batch, const HeadValues& head, const HeadObjective& objective,
                           double focus) {
  if (!batch.features.device().is_cpu()) return pending_head_gradient(batch, head, objective, focus);
  at::NoGradGuard no_grad;
  check_data_term(head, objective);
  std::optional<double> dof;
  if (head.dof.defined()) dof = head.dof.item<double>();
  if (dof && !(*dof > 2)) refuse("head_gradient", "more than 2 degrees of freedom", fmt::format("{}", *dof));
  return gradient_of<double>(batch, head, objective, focus, head.noise_var.item<double>(), dof);
}

HeadGradient pending_head_gradient(const HeadBatch& batch, const HeadValues& head,
                                   const HeadObjective& objective, double focus) {
  at::NoGradGuard no_grad;
  check_data_term(head, objective);
  internal_check(!batch.join, "head_gradient", "a shared batch on", name_of(batch.features.device()));
  const std::optional<at::Tensor> dof = head.dof.defined() ? std::optional(head.dof) : std::nullopt;
  return gradient_of<at::Tensor>(batch, head, objective, focus, head.noise_var.to(at::kDouble), dof);
}

}  // namespace slimbayes
