// Cholesky factorisations, all with the same treatment of numerical problems.
//
// Problem: in exact arithmetic a Gram matrix is positive definite, but in float64 it may be singular
// (duplicated rows, dead features). LAPACK returns NaN for an input with NaN.
// Method: check for NaN first, then factorise the matrix unchanged. Only if that fails add a jitter, which
// grows tenfold from 1e-12 of the mean diagonal; the caller learns how much was added. Cost: O(r^3 / 3) per
// attempt.
// Updates and downdates (adding or removing x x^T) rotate one row x at a time into the factor, column by
// column. Each rotation makes x_j zero by combining it with L_jj. A downdate uses hyperbolic rotations in
// Chambers' mixed form, which is stable if the result is well conditioned. Cost: O(r^2) per row. Source:
// Golub and Van Loan, Matrix Computations, 4th ed., section 6.5.
// Many rows X are instead rotated into U = L^T block by block, as matrix products. Let j be the columns of a
// block, t the columns after it, P = X_j U_jj^-1, and R the upper Cholesky factor of I +- P^T P. Then
//   U_jj <- R U_jj,  U_jt <- V = R^-T (U_jt +- P^T X_t),  X_t <- X_t - P (I + R)^-1 (U_jt + V).
// This is a block Householder transformation (a hyperbolic one for the downdate): U_jt^T U_jt +- X_t^T X_t
// does not change, and X_j becomes zero. As in the mixed form, the new X is computed from the new U.

#include "slimbayes/core/linalg.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/BatchLinearAlgebra.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/writable.h"

namespace slimbayes {

namespace {

// Returns the pivot of a failed Cholesky factorisation, for the error message. `column` is the first column
// whose pivot is not positive. The pivot is what remains of the diagonal element after the columns before it
// are eliminated (a Schur complement).
double failed_pivot(const at::Tensor& a, int64_t column) {
  double diagonal = a[column][column].item<double>();
  if (column == 0) return diagonal;
  at::Tensor leading = a.slice(0, 0, column).slice(1, 0, column);
  at::Tensor side = a[column].slice(0, 0, column).unsqueeze(1);
  auto [factor, info] = at::linalg_cholesky_ex(leading);
  return diagonal - solve_lower(factor, side).square().sum().item<double>();
}

void require_no_nan(const at::Tensor& a, const char* function) {
  if (std::isfinite(a.detach().sum().item<double>())) return;
  at::Tensor lower = a.detach().tril();
  int64_t bad = at::isfinite(lower).logical_not().sum().item<int64_t>();
  if (bad == 0) return;  // every element is finite, only the sum overflowed
  throw NumericalError(
      fmt::format("[{2}] expected finite numbers; received a {0} x {0} matrix with {1} NaN or infinite "
                  "elements; look for NaN in the inputs, or lower the learning rate",
                  a.size(0), bad, function));
}

// Returns L and LAPACK's status: 0, or the number, from 1, of the first column whose pivot is not positive.
// Without a gradient it calls LAPACK itself: at::linalg_cholesky_ex sets the other triangle to zero column by
// column of a matrix that is stored by rows, which for a thousand rows takes as long as the factorisation.
std::pair<at::Tensor, int> factorised(const at::Tensor& a) {
  const bool plain = a.is_cpu() && a.scalar_type() == at::kDouble && a.size(0) > 0;
  if (!plain || (a.requires_grad() && at::GradMode::is_enabled())) {
    auto [factor, info] = at::linalg_cholesky_ex(a);
    return {factor, info.item<int>()};
  }
  const int64_t r = a.size(0);
  const at::Tensor factor = at::empty_strided({r, r}, {1, r}, a.options()).copy_(a.detach());
  auto* data = factor.mutable_data_ptr<double>();
  int info = 0;
  at::native::lapackCholesky('L', static_cast<int>(r), data, static_cast<int>(r), &info);
  for (int64_t j = 1; j < r; ++j) std::fill_n(data + j * r, j, 0.0);
  return {factor, info};
}

// Replaces U = L^T [r, r] by the factor of U^T U + sign x x^T, where sign is +1 or -1. x [r] is overwritten.
// The rows of U must be contiguous. Throws NumericalError if the result is not positive definite.
void rotate_in(double* u, double* x, int64_t r, double sign) {
  for (int64_t j = 0; j < r; ++j) {
    double* row = u + j * r;
    double pivot = row[j], square = sign > 0 ? 1.0 : (pivot - x[j]) * (pivot + x[j]);
    if (!(square > 0))
      throw NumericalError(fmt::format(
          "[cholesky_downdated] expected a positive definite result; received a squared pivot of {:.3g} at "
          "column {} of a {} x {} factor; remove only rows that were added, or rebuild from the statistics",
          square, j, r, r));
    double next = sign > 0 ? std::hypot(pivot, x[j]) : std::sqrt(square);
    double c = next / pivot, s = x[j] / pivot;
    row[j] = next;
    for (int64_t i = j + 1; i < r; ++i) {
      row[i] = (row[i] + sign * s * x[i]) / c;
      x[i] = c * x[i] - s * row[i];
    }
  }
}

// Returns the upper triangular R with R^T R = I + sign P^T P, where sign is +1 or -1. Throws NumericalError
// if that matrix is not positive definite.
at::Tensor turned_identity(const at::Tensor& p, const at::Tensor& identity, double sign) {
  auto [factor, info] = at::linalg_cholesky_ex(at::addmm(identity, p.t(), p, 1, sign), /*upper=*/true);
  if (info.item<int>() != 0)
    throw NumericalError(
        fmt::format("[cholesky_downdated] expected a positive definite result; received {} rows that "
                    "together are larger than the matrix; remove only rows that were added, or rebuild from "
                    "the statistics",
                    p.size(0)));
  return factor;
}

// Replaces U = L^T [r, r] by the factor of U^T U + sign X^T X for X = `rows` [k, r], as described at the head
// of the file. The block size was measured at r = 512 and k = 32: wider blocks need more arithmetic, narrower
// ones more calls.
void rotate_in_by_blocks(const at::Tensor& u, const at::Tensor& rows, double sign) {
  constexpr int64_t kBlock = 48;
  const int64_t r = u.size(0), k = rows.size(0);
  const at::Tensor identity = at::eye(kBlock, u.options());
  // A buffer for the old rows of U of one block, with X below them, so that one product reads both.
  const at::Tensor both = at::empty({kBlock + k, r}, u.options()), x = both.narrow(0, kBlock, k).copy_(rows);
  for (int64_t j = 0; j < r; j += kBlock) {
    const int64_t size = std::min(r - j, kBlock), after = j + size, left = r - after;
    const at::Tensor diagonal = u.narrow(0, j, size).narrow(1, j, size),
                     eye = identity.narrow(0, 0, size).narrow(1, 0, size);
    const at::Tensor p = at::linalg_solve_triangular(diagonal, x.narrow(1, j, size), /*upper=*/true,
                                                     /*left=*/false);  // [k, size]
    const at::Tensor turn = turned_identity(p, eye, sign);
    diagonal.copy_(at::mm(turn, diagonal));
    if (left == 0) return;
    const at::Tensor of_both = solve_lower(turn.t(), at::cat({eye, p.t() * sign}, 1));  // R^-T [I, sign P^T]
    const at::Tensor of_sum = at::linalg_solve_triangular(turn + eye, p, /*upper=*/true, /*left=*/false);
    const at::Tensor rest = both.narrow(0, kBlock - size, size + k).narrow(1, after, left);
    at::Tensor sum = rest.narrow(0, 0, size), x_rest = rest.narrow(0, size, k),
               band = u.narrow(0, j, size).narrow(1, after, left);
    sum.copy_(band);
    at::mm_out(band, of_both, rest);
    sum.add_(band);
    x_rest.addmm_(of_sum, sum, 1, -1);
  }
}

// Replaces U = L^T [r, r] by the factor of U^T U + sign X^T X for X = `rows` [k, r], row by row or in blocks,
// whichever is faster. The rows of U must be contiguous.
void rotate_rows_in(const at::Tensor& u, const at::Tensor& rows, double sign) {
  constexpr int64_t kSeveral = 8;   // least number of rows for which blocks are faster
  constexpr int64_t kAtOnce = 256;  // most rows in one buffer, to limit memory
  const int64_t k = rows.size(0), r = u.size(0);
  if (k >= kSeveral) {
    for (int64_t low = 0; low < k; low += kAtOnce)
      rotate_in_by_blocks(u, rows.slice(0, low, low + kAtOnce), sign);
    return;
  }
  const at::Tensor x = rows.clone(at::MemoryFormat::Contiguous);
  for (int64_t i = 0; i < k; ++i)
    rotate_in(u.mutable_data_ptr<double>(), x.mutable_data_ptr<double>() + i * r, r, sign);
}

at::Tensor rotated(at::Tensor factor, const at::Tensor& rows, double sign, const char* function) {
  check_shape(factor, {-1, -1}, function, "factor");
  const int64_t r = factor.size(0);
  check_shape(factor, {r, r}, function, "factor");
  check_shape(rows, {-1, r}, function, "rows");
  if (factor.scalar_type() != at::kDouble)
    refuse(function, "a float64 factor", at::toString(factor.scalar_type()));
  check_finite(rows, function, "rows");
  // rotate_rows_in() needs U = L^T with contiguous rows, that is L stored column by column. Factors from
  // LAPACK are stored like this; any other factor is copied into this layout.
  const bool by_columns = factor.stride(0) == 1 && factor.stride(1) == r;
  at::Tensor out = by_columns ? writable(std::move(factor))
                              : at::empty_strided({r, r}, {1, r}, factor.options()).copy_(factor.detach());
  rotate_rows_in(out.t(), rows.detach().to(at::kDouble), sign);
  return out;
}

}  // namespace

Cholesky safe_cholesky(const at::Tensor& a, int tries) {
  check_shape(a, {-1, -1}, "safe_cholesky", "matrix");
  int64_t r = a.size(0);
  check_shape(a, {r, r}, "safe_cholesky", "matrix");
  require_no_nan(a, "safe_cholesky");
  const auto [plain, bad] = factorised(a);
  if (bad == 0) return {plain, 0};

  double scale = a.detach().diagonal().mean().item<double>(), jitter = 1e-12 * scale, used = 0;
  at::Tensor eye = at::eye(r, a.options());
  for (int i = 0; i < tries && scale > 0; ++i, jitter *= 10) {
    const auto [factor, failed] = factorised(a + jitter * eye);
    if (failed == 0) return {factor, jitter};
    used = jitter;
  }
  throw NumericalError(fmt::format(
      "[safe_cholesky] expected a positive definite matrix; received a {} x {} one whose first bad pivot is "
      "{:.3g} (mean diagonal {:.3g}, jitter tried up to {:.3g}); raise the noise variance, lower the rank, "
      "or remove duplicated rows and features",
      r, r, failed_pivot(a.detach(), bad - 1), scale, used));
}

at::Tensor log_det(const at::Tensor& factor) { return 2 * factor.diagonal().log().sum(); }

at::Tensor solve_lower(const at::Tensor& factor, const at::Tensor& x) {
  return at::linalg_solve_triangular(factor, x, /*upper=*/false);
}

at::Tensor solve_cholesky(const at::Tensor& factor, const at::Tensor& x) {
  return at::linalg_solve_triangular(factor.t(), solve_lower(factor, x), /*upper=*/true);
}

at::Tensor cholesky_updated(at::Tensor factor, const at::Tensor& rows) {
  return rotated(std::move(factor), rows, 1, "cholesky_updated");
}

at::Tensor cholesky_downdated(at::Tensor factor, const at::Tensor& rows) {
  return rotated(std::move(factor), rows, -1, "cholesky_downdated");
}

RoundedVariance rounded_variance(const at::Tensor& var, const at::Tensor& scale) {
  at::Tensor known = scale.isfinite();
  at::Tensor fits = (var >= -1e-10 * scale) | known.logical_not();  // false if only var is NaN
  if (!fits.all().item<bool>())
    throw NumericalError(fmt::format(
        "[rounded_variance] expected variances above -1e-10 of their scale; received {} of {} below, or NaN; "
        "the covariance is not positive semidefinite: raise the noise variance or the jitter",
        fits.logical_not().sum().item<int64_t>(), var.numel()));
  at::Tensor nan = at::full({}, std::numeric_limits<double>::quiet_NaN(), var.options());
  return {at::where(known, var.clamp_min(0), nan), ((var < 0) & known).sum().item<int64_t>()};
}

at::Tensor squared_distances(const at::Tensor& u, const at::Tensor& v) {
  constexpr double kMostSquared = 1e4;   // of a row: the unit in the last place of twice that is 4e-12
  constexpr int64_t kByDifferences = 2;  // at::cdist: without a matrix product
  const at::Tensor of_v = v.square().sum(-1);
  if (v.numel() > 0 && of_v.detach().max().item<double>() > kMostSquared)
    return at::cdist(u, v, 2, kByDifferences).square();
  // relu because rounding can make a squared distance of zero negative.
  return (u.square().sum(-1, true) + of_v).addmm_(u, v.t(), 1, -2).relu_();
}

Spectrum spectrum(const at::Tensor& a) {
  check_shape(a, {-1, -1}, "spectrum", "matrix");
  check_shape(a, {a.size(0), a.size(0)}, "spectrum", "matrix");
  require_no_nan(a, "spectrum");
  const auto [values, vectors] = at::linalg_eigh(a);
  return {rounded_variance(values, values.abs().max()).var, vectors};
}

}  // namespace slimbayes
