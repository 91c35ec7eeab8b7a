// The Gaussian linear posterior, computed from statistics.
//
// Problem: n rows with features phi, y = constant + phi^T w + noise, w ~ N(0, T T^T), noise ~ N(0, sigma2 D).
// Find the predictive mean and variance and log p(y) without any n x n matrix.
// Method: write w = T u with u ~ N(0, I). In these coordinates the statistics are S_w = T^T S T and
// c_w = T^T c, and the posterior of u has the precision H:
//   H = I + S_w / sigma2 = L L^T,   mean of u = H^-1 c_w / sigma2,
//   mean of w = T (mean of u),      variance at phi = ||L^-1 T^T phi||^2.
// Since H >= I, it needs no jitter, and since T is never inverted, the prior may be singular. If the prior is
// wide compared with the noise, S_w / sigma2 is so large that its rounding errors exceed I; then the spectrum
// of S_w is used instead of L (identity_plus).
// Below, w and u are the posterior means. Evidence: let C = Cov(y) = sigma2 D + Phi T T^T Phi^T and let y
// have the constant subtracted. Then |C| = sigma2^n |D| |H| and
//   y^T C^-1 y = (yy - c_w^T H^-1 c_w / sigma2) / sigma2
//              = (||D^-1/2 (y - Phi w)||^2 + sigma2 ||u||^2) / sigma2.
// The second form loses no digits to cancellation but needs the rows.
// Constant: generalised least squares gives 1^T C^-1 y / 1^T C^-1 1; numerator and denominator come from the
// statistics. The constant has the variance 1 / 1^T C^-1 1 under a flat prior, which adds
// (1 - 1^T C^-1 k(x))^2 / 1^T C^-1 1 to the variance of f(x) (eq. 2.42 of the source), where k(x) is the
// prior covariance of y and f(x) and
//   1^T C^-1 k(x) = (H^-1 T^T Phi^T D^-1 1)^T T^T phi / sigma2.
// Gradients of l = log p(y): dl/dS = -(T H^-1 T^T + w w^T) / (2 sigma2), dl/dc = w / sigma2,
// dl/dlog sigma2 = (r - tr H^-1 - n + residuals / sigma2) / 2. The evidence depends on T only through S_w and
// c_w, so replacing T by s T has the same effect as replacing S by s^2 S and c by s c.
// Cost: O(n r^2) for the statistics, O(r^3) here.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, sections 2.1, 2.7 and A.3.

#include "slimbayes/core/gaussian_linear.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/linalg.h"

namespace slimbayes {

namespace {

// If more than rank / kRotateShare rows are added or removed, a new factorisation of H is cheaper than an
// update of its factor by rotations.
constexpr int64_t kRotateShare = 8;

// Returns x T, where T is the prior factor: row phi^T becomes the features of u in w = T u. x [b, r]. [b, r]
at::Tensor whiten(const at::Tensor& x, const at::Tensor& prior_factor) {
  if (!prior_factor.defined()) return x;
  return prior_factor.dim() == 0 ? x * prior_factor : at::mm(x, prior_factor);
}

at::Tensor whiten_vector(const at::Tensor& x, const at::Tensor& prior_factor) {
  return whiten(x.unsqueeze(0), prior_factor).squeeze(0);
}

// Returns T x, where T is the prior factor: turns u [r] into the weights w = T u. [r]
at::Tensor colour(const at::Tensor& x, const at::Tensor& prior_factor) {
  if (!prior_factor.defined()) return x;
  return prior_factor.dim() == 0 ? x * prior_factor : at::mv(prior_factor, x);
}

// Returns H^-1 x, where x [r] is a weighted sum of whitened feature rows T^T phi, as solve() requires. [r]
at::Tensor solve_vector(const IdentityPlus& precision, const at::Tensor& x) {
  return solve(precision, x.unsqueeze(1)).squeeze(1);
}

LinearModel checked(const LinearModel& model, int64_t rank) {
  if (!(model.sigma2 > 0 && std::isfinite(model.sigma2)))
    refuse("linear_posterior", "a finite sigma2 > 0", std::to_string(model.sigma2));
  LinearModel out = model;
  if (!model.prior_factor.defined()) return out;
  if (model.prior_factor.dim() != 0)
    check_shape(model.prior_factor, {rank, rank}, "linear_posterior", "prior_factor (or a scalar)");
  check_finite(model.prior_factor, "linear_posterior", "prior_factor");
  // Stores T row by row. A factorisation returns its matrix column by column and a file holds it row by row,
  // and on some processors products of the two layouts round differently. With one layout a model gives the
  // same bits after it has been saved and read.
  out.prior_factor = on_cpu(model.prior_factor.detach()).to(at::kDouble).contiguous();
  return out;
}

IdentityPlus factorised(const LinearStatistics& s, const LinearModel& model) {
  at::Tensor half = whiten(s.S, model.prior_factor);           // S T
  at::Tensor gram = whiten(half.t(), model.prior_factor).t();  // T^T S T
  return identity_plus(gram, 1 / model.sigma2);
}

struct Constant {
  double value;
  at::Tensor response;  // see LinearPosterior::response
  double var;
};

Constant constant_of(const LinearStatistics& s, const LinearModel& model, const IdentityPlus& precision) {
  if (!model.fit_mean || s.n == 0) return {s.y_shift, at::zeros({s.rank()}, at::kDouble), 0};
  at::Tensor ones = whiten_vector(s.ones_phi, model.prior_factor);
  at::Tensor response = solve_vector(precision, ones) / model.sigma2;
  double weight = s.ones_ones - ones.dot(response).item<double>();
  double sum = s.ones_y - whiten_vector(s.c, model.prior_factor).dot(response).item<double>();
  if (!(weight > 1e-14 * s.ones_ones))
    throw NumericalError(
        fmt::format("[linear_posterior] expected a constant mean that the {} rows determine; received a "
                    "weight of {:.3g} "
                    "beside {:.3g}: the features explain constants as well; raise sigma2 or fix the mean",
                    s.n, weight, s.ones_ones));
  return {s.y_shift + sum / weight, response, model.sigma2 / weight};
}

LinearPosterior finished(LinearStatistics s, LinearModel model, IdentityPlus precision) {
  Constant constant = constant_of(s, model, precision);
  at::Tensor c = whiten_vector(shifted(s, constant.value).c, model.prior_factor);
  at::Tensor whitened = solve_vector(precision, c) / model.sigma2;
  at::Tensor weights = colour(whitened, model.prior_factor);
  return {.statistics = std::move(s),
          .model = std::move(model),
          .constant = constant.value,
          .weights = weights,
          .whitened = whitened,
          .precision = std::move(precision),
          .response = constant.response,
          .constant_var = constant.var};
}

// Returns the weighted residual sum of squares ||D^-1/2 (y - constant - Phi w)||^2 from the statistics alone.
// It is computed as a difference, which loses digits if the residuals are much smaller than y. residual_sum()
// does not lose them, but needs the rows.
double residuals_from_statistics(const LinearPosterior& p) {
  LinearStatistics s = shifted(p.statistics, p.constant);
  double explained = s.c.dot(p.weights).item<double>();
  double penalty = p.model.sigma2 * p.whitened.square().sum().item<double>();
  return s.yy - explained - penalty;  // yy - c^T w = residuals + sigma2 ||u||^2
}

// Returns a number x of each row times w / d, the row's share in the sums over rows. [b]
at::Tensor shared(at::Tensor x, const LinearRows& rows) {
  if (rows.d.defined()) x = x / on_device(rows.d, x.device()).to(at::kDouble);
  return rows.weight.defined() ? x * on_device(rows.weight, x.device()).to(at::kDouble) : x;
}

// Returns X = T^T phi sqrt(w / (d sigma2)) of each row, so that adding or removing the rows changes H by X^T
// X. cholesky_updated() and cholesky_downdated() take X. [k, r]
at::Tensor turns(const LinearModel& model, const LinearRows& rows) {
  at::Tensor phi = whiten(on_cpu(rows.features.detach()).to(at::kDouble), model.prior_factor);
  if (rows.d.defined()) phi = phi / on_cpu(rows.d.detach()).to(at::kDouble).sqrt().unsqueeze(1);
  if (rows.weight.defined()) phi = phi * on_cpu(rows.weight).to(at::kDouble).sqrt().unsqueeze(1);
  return phi / std::sqrt(model.sigma2);
}

LinearPosterior changed(LinearPosterior p, const LinearRows& rows, bool adds) {
  const double least = adds ? 0 : rounding_of_rows(p.statistics.n);
  LinearStatistics s = adds ? added(std::move(p.statistics), rows) : removed(std::move(p.statistics), rows);
  // If no rows are left, start from exact zeros. The subtracted sums would hold rounding errors instead, and
  // so may the number of rows, which is a sum of weights.
  if (s.n <= least) return linear_posterior(linear_statistics(s.rank(), s.y_shift), p.model);
  if (rows.y.size(0) * kRotateShare > s.rank() || !p.precision.factor.defined()) {
    IdentityPlus precision = factorised(s, p.model);
    return finished(std::move(s), std::move(p.model), std::move(precision));
  }
  const at::Tensor x = turns(p.model, rows);
  at::Tensor& factor = p.precision.factor;
  factor = adds ? cholesky_updated(std::move(factor), x) : cholesky_downdated(std::move(factor), x);
  return finished(std::move(s), std::move(p.model), std::move(p.precision));
}

at::Tensor checked_features(const LinearPosterior& p, const at::Tensor& features, const char* function) {
  check_shape(features, {-1, p.statistics.rank()}, function, "features");
  check_finite(features, function, "features");
  return on_cpu(features).to(at::kDouble);
}

}  // namespace

LinearPosterior linear_posterior(const LinearStatistics& s, const LinearModel& model) {
  LinearModel valid = checked(model, s.rank());
  return finished(s, valid, factorised(s, valid));
}

at::Tensor mean(const LinearPosterior& p, const at::Tensor& features) {
  return p.constant + at::mv(checked_features(p, features, "mean"), p.weights);
}

at::Tensor epistemic_var(const LinearPosterior& p, const at::Tensor& features) {
  at::Tensor psi = whiten(checked_features(p, features, "epistemic_var"), p.model.prior_factor);
  at::Tensor of_weights = solve_half(p.precision, psi.t()).square().sum(0);
  return of_weights + p.constant_var * (1 - at::mv(psi, p.response)).square();
}

LinearPosterior added(LinearPosterior p, const LinearRows& rows) {
  return changed(std::move(p), rows, /*adds=*/true);
}

LinearPosterior removed(LinearPosterior p, const LinearRows& rows) {
  return changed(std::move(p), rows, /*adds=*/false);
}

void check_exact_mean(double yy, const LinearModel& model, const std::string& function) {
  constexpr double kMost = 1e-6 / std::numeric_limits<double>::epsilon();  // in noise sds
  const double size = std::sqrt(yy / model.sigma2);
  if (!(size <= kMost))
    refuse(
        function,
        fmt::format("targets whose root sum of squares is at most {:.2g} noise sd, beside which other rows "
                    "keep their digits",
                    kMost),
        fmt::format("{:.2g}", size), "leave such rows out; a model that holds them must be fitted again");
}

double residual_sum(const LinearPosterior& p, const LinearRows& rows) {
  at::Tensor residual = on_cpu(rows.y).to(at::kDouble) - mean(p, rows.features);
  return shared(residual.square(), rows).sum().item<double>();
}

double log_evidence(const LinearPosterior& p, std::optional<double> residuals) {
  const LinearStatistics& s = p.statistics;
  double rss = residuals ? *residuals : residuals_from_statistics(p);
  double square = rss / p.model.sigma2 + p.whitened.square().sum().item<double>();  // y^T C^-1 y
  return -0.5 * (s.n * std::log(2 * std::numbers::pi * p.model.sigma2) + s.log_det_d +
                 log_det(p.precision).item<double>() + square);
}

EvidenceGradient evidence_gradient(const LinearPosterior& p, std::optional<double> residuals) {
  double sigma2 = p.model.sigma2;
  LinearStatistics s = shifted(p.statistics, p.constant);
  const at::Tensor inverse = slimbayes::inverse(p.precision);  // H^-1
  const double trace = inverse.trace().item<double>();
  double rss = residuals ? *residuals : residuals_from_statistics(p);

  EvidenceGradient out;
  const at::Tensor& t = p.model.prior_factor;
  at::Tensor half = t.defined() ? whiten(inverse, t.dim() == 0 ? t : t.t()) : inverse;  // H^-1 T^T
  at::Tensor covariance = t.defined() ? whiten(half.t(), t.dim() == 0 ? t : t.t()) : half;
  out.S = at::outer(p.weights, p.weights).add_(covariance).div_(-2 * sigma2);
  out.c = p.weights / sigma2;
  out.constant = (s.ones_y - s.ones_phi.dot(p.weights).item<double>()) / sigma2;
  out.log_sigma2 = 0.5 * (static_cast<double>(s.rank()) - s.n - trace + rss / sigma2);
  out.log_prior_scale = (2 * (out.S * s.S).sum() + out.c.dot(s.c)).item<double>();
  return out;
}

at::Tensor evidence_surrogate(const LinearPosterior& p, const EvidenceGradient& gradient,
                              const LinearRows& rows) {
  check_shape(rows.features, {-1, p.statistics.rank()}, "evidence_surrogate", "features");
  check_shape(rows.y, {rows.features.size(0)}, "evidence_surrogate", "y");
  at::Tensor phi = rows.features.to(at::kDouble);
  at::Tensor y = on_device(rows.y, phi.device()).to(at::kDouble) - p.constant;
  const at::Tensor of_s = on_device(gradient.S, phi.device()), of_c = on_device(gradient.c, phi.device());
  at::Tensor each = (at::mm(phi, of_s) * phi).sum(1) + y * at::mv(phi, of_c);
  return shared(each, rows).sum();
}

}  // namespace slimbayes
