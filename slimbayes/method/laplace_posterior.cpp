// The Laplace approximation of a linear classifier: how the covariance of the logits is computed.
//
// Full structure: let L be the Cholesky factor of I + s^2 H, and R = s L^-1 (lower triangular, in k x k
// blocks R_ac [r, r]). The covariance of logits c and d is phi^T (R^T R)_cd phi = sum_a <R_ac phi, R_ad phi>.
// This takes k^2 / 2 products of [b, r] and [r, r], and is a sum of squares on the diagonal.
// Kronecker structure: let U and V be the eigenvectors of the features' and the classes' matrix, with
// eigenvalues a_i and l_j. The eigenvalues of H are a_i l_j / n, and the covariance is V diag(sum_i (U^T
// phi)_i^2 v_ij) V^T with v_ij = s^2 / (1 + s^2 a_i l_j / n).
// The centred covariance P C P replaces R_ac by R_ac minus its mean over c, and V by P V.
#include "slimbayes/method/laplace_posterior.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "slimbayes/answers/likelihoods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/identity_plus.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/core/writable.h"

namespace slimbayes {

namespace {

constexpr const char* kLaplace = "laplace";
constexpr int64_t kNumbersAtOnce = int64_t{1} << 22;
constexpr double kWide = 1e10;  // LaplacePosterior::wide if s^2 H exceeds it, as in identity_plus

/// Returns Lambda of each row (GaussNewton). [b, k, k]
at::Tensor curvatures(const at::Tensor& logits) {
  if (logits.size(1) == 1) {
    const at::Tensor p = at::sigmoid(logits);
    return (p * at::sigmoid(-logits)).unsqueeze(2);
  }
  const at::Tensor p = at::softmax(logits, 1);
  return at::diag_embed(p) - p.unsqueeze(2) * p.unsqueeze(1);
}

/// Returns the number of rows by which the Kronecker structure divides; without rows both factors are 0.
double divisor(const GaussNewton& h) { return h.n > 0 ? h.n : 1; }

/// Returns sum + sign a^T b. The product is made where a and b are, and the sum where `sum` is.
at::Tensor with_product(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b, int sign) {
  if (a.device() == sum.device()) return at::addmm(sum, a.t(), b, 1, sign);
  return sum.add(on_device(a.t().mm(b), sum.device()), sign);
}

at::Tensor less_mean(const at::Tensor& x, int64_t axis) { return x - x.mean(axis, /*keepdim=*/true); }

/// Returns the covariance of the logits, or if `centred` of the logits minus their mean over the classes. [b,
/// k, k]
at::Tensor covariance_of(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs,
                         bool centred) {
  const at::Tensor phi = features.to(at::kDouble);
  const int64_t b = phi.size(0), k = outputs, r = phi.size(1);
  if (!p.half.defined()) {
    const at::Tensor vars = phi.mm(p.of_features).square().mm(p.variances);  // [b, k]
    const at::Tensor classes = centred ? less_mean(p.of_classes, 0) : p.of_classes;
    return at::matmul(classes * vars.unsqueeze(1), classes.t());
  }
  at::Tensor out = at::zeros({b, k, k}, at::kDouble);
  const int64_t step = std::max<int64_t>(1, kNumbersAtOnce / (k * r));
  for (int64_t low = 0; low < b; low += step) {
    const at::Tensor rows = phi.slice(0, low, low + step);
    for (int64_t a = 0; a < k; ++a) {
      // Computes R_ac phi for c <= a only, unless `wide`: the other blocks of a lower triangular R are zero.
      const int64_t used = p.wide ? k : a + 1;
      const at::Tensor blocks = p.half.narrow(0, a * r, r).narrow(1, 0, used * r);
      at::Tensor turned = at::matmul(rows, blocks.reshape({r, used, r}).permute({1, 2, 0}))
                              .permute({1, 0, 2});                                           // [b, used, r]
      if (centred) turned = less_mean(at::constant_pad_nd(turned, {0, 0, 0, k - used}), 1);  // [b, k, r]
      const int64_t held = turned.size(1);
      out.slice(0, low, low + step).narrow(1, 0, held).narrow(2, 0, held) +=
          at::matmul(turned, turned.transpose(1, 2));
    }
  }
  return out;
}

}  // namespace

GaussNewton gauss_newton(int64_t outputs, int64_t rank, bool full) {
  const int64_t size = outputs * rank;
  return {full ? at::zeros({size, size}, at::kDouble) : at::Tensor(), at::zeros({rank, rank}, at::kDouble),
          at::zeros({outputs, outputs}, at::kDouble), 0};
}

GaussNewton with_rows(GaussNewton h, const at::Tensor& features, const at::Tensor& logits, int sign,
                      const at::Tensor& weight) {
  check_shape(features, {-1, h.rank()}, kLaplace, "features");
  check_shape(logits, {features.size(0), h.outputs()}, kLaplace, "logits");
  check_finite(features, kLaplace, "features");
  check_finite(logits, kLaplace, "logits");
  const int64_t k = h.outputs(), r = h.rank();
  double b = static_cast<double>(features.size(0));
  if (weight.defined()) {
    check_shape(weight, {features.size(0)}, kLaplace, "weights");
    b = weight.sum().item<double>();
  }
  if (!(sign > 0 || b <= h.n + rounding_of_rows(h.n)))
    refuse(kLaplace, fmt::format("at most {} rows to remove", h.n), fmt::format("{}", b),
           "only rows that were added can be removed");
  // Without rows the matrix is exactly zero: rounding errors of the sum are discarded.
  if (const double n = h.n + sign * b; n <= (sign > 0 ? 0 : rounding_of_rows(h.n)))
    return gauss_newton(k, r, h.full.defined());
  const at::Tensor phi = features.to(at::kDouble);
  at::Tensor curvature = curvatures(logits.to(at::kDouble)), own = phi;
  if (weight.defined()) {
    curvature = curvature * weight.view({-1, 1, 1});
    own = phi * weight.unsqueeze(1);
  }
  GaussNewton out{{},
                  with_product(h.features, phi, own, sign),
                  h.classes + static_cast<double>(sign) * on_device(curvature.sum(0), h.classes.device()),
                  h.n + sign * b};
  if (!h.full.defined()) return out;
  out.full = writable(std::move(h.full));
  for (int64_t c = 0; c < k; ++c) {
    for (int64_t d = 0; d <= c; ++d) {
      at::Tensor block = out.full.narrow(0, c * r, r).narrow(1, d * r, r);
      const at::Tensor weighted = phi * curvature.select(1, c).select(1, d).unsqueeze(1);
      if (phi.device() == block.device())
        block.addmm_(phi.t(), weighted, 1, sign);
      else
        block.add_(on_device(phi.t().mm(weighted), block.device()), sign);
      if (c != d) out.full.narrow(0, d * r, r).narrow(1, c * r, r).copy_(block.t());
    }
  }
  return out;
}

GaussNewton merged(const GaussNewton& a, const GaussNewton& b) {
  check(a.rank() == b.rank() && a.outputs() == b.outputs() && a.full.defined() == b.full.defined(), kLaplace,
        "matrices of one shape and structure", "others");
  return {a.full.defined() ? a.full + b.full : at::Tensor(), a.features + b.features, a.classes + b.classes,
          a.n + b.n};
}

at::Tensor eigenvalues(const GaussNewton& h) {
  if (h.full.defined()) return spectrum(h.full).values;
  const at::Tensor a = spectrum(h.features).values, l = spectrum(h.classes).values;
  return at::outer(a, l).flatten() / divisor(h);
}

LaplacePosterior laplace_posterior(const GaussNewton& h, double prior_sd) {
  if (!(prior_sd > 0)) refuse(kLaplace, "a prior sd above 0", fmt::format("{}", prior_sd));
  LaplacePosterior p;
  p.prior_sd = prior_sd;
  const double var = prior_sd * prior_sd;
  if (h.full.defined()) {
    const IdentityPlus precision = identity_plus(h.full, var);
    p.half = prior_sd * solve_half(precision, at::eye(h.full.size(0), at::kDouble));
    p.wide = !precision.factor.defined();
    return p;
  }
  const Spectrum features = spectrum(h.features), classes = spectrum(h.classes);
  const double n = divisor(h);
  p.of_features = features.vectors;
  p.of_classes = classes.vectors;
  const at::Tensor values = at::outer(resolved(features.values), resolved(classes.values));
  p.variances = var / (1 + (var / n) * values);
  p.wide = var / n * values.max().item<double>() > kWide;
  return p;
}

at::Tensor logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs) {
  return covariance_of(p, features, outputs, /*centred=*/false);
}

at::Tensor centred_logit_covariance(const LaplacePosterior& p, const at::Tensor& features, int64_t outputs) {
  return covariance_of(p, features, outputs, /*centred=*/outputs > 1);
}

double laplace_evidence(double log_likelihood, double weights_squared, const at::Tensor& eigenvalues,
                        double prior_sd) {
  const double var = prior_sd * prior_sd;
  return log_likelihood - 0.5 * weights_squared / var -
         0.5 * at::log1p(var * eigenvalues).sum().item<double>();
}

Predictive classes_of_gaussian(const at::Tensor& logits, const at::Tensor& covariance, int64_t samples) {
  if (logits.size(1) == 1) return predictive(BernoulliLikelihood{}, {logits, covariance.reshape({-1, 1})});
  // A row whose covariance overflowed gets the answer NaN. The eigenvalues are computed as if that covariance
  // were 0, so that the other rows keep their answers.
  const at::Tensor known = covariance.isfinite().flatten(1).all(1).reshape({-1, 1, 1});
  const auto [values, vectors] = at::linalg_eigh(at::where(known, covariance, at::zeros_like(covariance)));
  const RoundedVariance vars = rounded_variance(values, values.select(1, -1).unsqueeze(1).expand_as(values));
  // That of centred logits has one eigenvalue 0, whose rounding says nothing.
  const int64_t zeroed = std::max<int64_t>(0, vars.clipped - values.select(1, 0).lt(0).sum().item<int64_t>());
  const at::Tensor root = at::matmul(vectors * vars.var.sqrt().unsqueeze(1), vectors.transpose(1, 2));
  const at::Tensor nan = at::full({}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  return SoftmaxLikelihood{Stream(0), samples}.predictive(logits, at::where(known, root, nan), zeroed);
}

}  // namespace slimbayes
