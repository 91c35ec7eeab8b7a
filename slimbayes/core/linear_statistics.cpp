// Sufficient statistics of a Gaussian linear model.
//
// Every statistic is a product of two columns of X = D^-1/2 [Phi, y - y_shift, 1]. A batch of b rows
// therefore costs one product of small matrices, O(b r^2) in float64, and neither Phi [n, r] nor any n x n
// matrix is kept in memory. The statistics for another y_shift, or for y with a constant subtracted, follow
// from the sums without the rows.

#include "slimbayes/core/linear_statistics.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/core/gram.h"
#include "slimbayes/core/writable.h"

namespace slimbayes {

namespace {

/// Returns a column of positive numbers [b] in float64. Throws std::invalid_argument for others.
at::Tensor positive(const at::Tensor& x, int64_t b, const char* function, const char* name,
                    const char* hint) {
  check_shape(x, {b}, function, name);
  check_finite(x, function, name);
  at::Tensor numbers = x.detach().to(at::kDouble);
  if (const double least = numbers.min().item<double>(); !(least > 0))
    refuse(function, fmt::format("{} > 0", name), fmt::format("a least {} of {}", name, least), hint);
  return numbers;
}

double sum_of_rows(const LinearRows& rows) {
  return rows.weight.defined() ? rows.weight.sum(at::kDouble).item<double>()
                               : static_cast<double>(rows.y.size(0));
}

/// Adds the sums of products of the columns of X = [phi, y, one] to the statistics.
void add_products(LinearStatistics& s, const at::Tensor& phi, const at::Tensor& y, const at::Tensor& one,
                  double sign) {
  s.S = writable(std::move(s.S)).contiguous();
  if (phi.is_cpu()) {
    add_gram(s.S, phi, sign);
    s.c = at::addmv(s.c, phi.t(), y, 1, sign);
    s.ones_phi = at::addmv(s.ones_phi, phi.t(), one, 1, sign);
    s.yy += sign * y.dot(y).item<double>();
    s.ones_y += sign * one.dot(y).item<double>();
    s.ones_ones += sign * one.dot(one).item<double>();
    return;
  }
  const int64_t r = s.rank();
  const at::Tensor x = at::cat({phi, at::stack({y, one}, 1)}, 1);  // [b, r + 2]
  const at::Tensor sums = sign * on_cpu(at::mm(x.t(), x));         // X^T X, computed on the device
  const at::Tensor block = sums.narrow(0, 0, r).narrow(1, 0, r);
  s.S.add_(0.5 * (block + block.t()));  // a device may round the two halves of the product differently
  s.c = s.c + sums.select(1, r).narrow(0, 0, r);
  s.ones_phi = s.ones_phi + sums.select(1, r + 1).narrow(0, 0, r);
  s.yy += sums[r][r].item<double>();
  s.ones_y += sums[r][r + 1].item<double>();
  s.ones_ones += sums[r + 1][r + 1].item<double>();
}

LinearStatistics accumulated(LinearStatistics s, const LinearRows& rows, double sign, const char* function) {
  check_shape(rows.features, {-1, s.rank()}, function, "features");
  int64_t b = rows.features.size(0);
  check_shape(rows.y, {b}, function, "y");
  check_finite(rows.features, function, "features");
  check_finite(rows.y, function, "y");
  at::Tensor phi = rows.features.detach().to(at::kDouble);
  at::Tensor y = on_device(rows.y.detach(), phi.device()).to(at::kDouble) - s.y_shift, one = at::ones_like(y);
  const at::Tensor weight = on_device(rows.weight, phi.device());
  double log_det_d = 0;
  if (rows.d.defined() && b > 0) {
    const at::Tensor d =
        positive(on_device(rows.d, phi.device()), b, function, "d", "d is a variance relative to sigma2");
    one = d.rsqrt();
    log_det_d = (weight.defined() ? d.log() * weight : d.log()).sum().item<double>();
  }
  if (weight.defined() && b > 0)
    one = one * positive(weight, b, function, "weight", "leave the rows of weight 0 out").sqrt();
  if (rows.d.defined() || weight.defined()) {
    phi = phi * one.unsqueeze(1);
    y = y * one;
  }
  add_products(s, phi, y, one, sign);
  s.log_det_d += sign * log_det_d;
  s.n += sign * sum_of_rows(rows);
  return s;
}

}  // namespace

LinearStatistics linear_statistics(int64_t rank, double y_shift) {
  if (!(rank > 0)) refuse("linear_statistics", "rank > 0", std::to_string(rank));
  at::Tensor zero = at::zeros({rank}, at::kDouble);
  return {.S = at::zeros({rank, rank}, at::kDouble), .c = zero, .ones_phi = zero, .y_shift = y_shift};
}

LinearStatistics added(LinearStatistics s, const LinearRows& rows) {
  return accumulated(std::move(s), rows, 1, "added");
}

LinearStatistics removed(LinearStatistics s, const LinearRows& rows) {
  check_shape(rows.y, {-1}, "removed", "y");
  const double n = sum_of_rows(rows);
  if (!(n <= s.n + rounding_of_rows(s.n)))
    refuse("removed", fmt::format("at most {} rows", s.n), fmt::format("{}", n),
           "only rows that were added can be removed");
  return accumulated(std::move(s), rows, -1, "removed");
}

LinearStatistics merged(const LinearStatistics& a, const LinearStatistics& b) {
  if (a.rank() != b.rank())
    refuse("merged", "statistics of one rank", fmt::format("{} and {}", a.rank(), b.rank()));
  LinearStatistics other = shifted(b, a.y_shift);
  return {.S = a.S + other.S,
          .c = a.c + other.c,
          .ones_phi = a.ones_phi + other.ones_phi,
          .yy = a.yy + other.yy,
          .ones_y = a.ones_y + other.ones_y,
          .ones_ones = a.ones_ones + other.ones_ones,
          .log_det_d = a.log_det_d + other.log_det_d,
          .n = a.n + other.n,
          .y_shift = a.y_shift};
}

LinearStatistics scaled(const LinearStatistics& s, double factor, double n) {
  if (!(factor > 0)) refuse("scaled", "a factor above 0", fmt::format("{}", factor));
  return {s.S * factor,      s.c * factor,         s.ones_phi * factor,  s.yy * factor,
          s.ones_y * factor, s.ones_ones * factor, s.log_det_d * factor, n,
          s.y_shift};
}

LinearStatistics shifted(const LinearStatistics& s, double y_shift) {
  double by = y_shift - s.y_shift;
  if (by == 0) return s;
  LinearStatistics out = s;
  out.c = s.c - by * s.ones_phi;
  out.yy = s.yy - by * (2 * s.ones_y - by * s.ones_ones);
  out.ones_y = s.ones_y - by * s.ones_ones;
  out.y_shift = y_shift;
  return out;
}

}  // namespace slimbayes
