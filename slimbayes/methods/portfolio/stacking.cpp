#include "slimbayes/methods/portfolio/stacking.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>

#include "slimbayes/core/check.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

// The objective is concave. With the responsibilities r_ik = w_k p_k(y_i) / sum_j w_j p_j(y_i), a step sets
//   w_k = (1 + sum_i a_i r_ik) / (k + n)
// with the weights a_i of the rows, which sum to n: each 1 if there are none. It is
// the posterior mode under a Dirichlet(2, ..., 2) prior. The prior keeps models apart that few rows cannot
// tell from each other.
std::vector<double> stacking_weights(const at::Tensor& log_density, const at::Tensor& rows) {
  constexpr const char* kFunction = "stacking_weights";
  check_shape(log_density, {-1, -1}, kFunction, "log_density");
  const int64_t n = log_density.size(0), k = log_density.size(1);
  if (!(n > 0 && k > 0)) refuse(kFunction, "at least one row and one model", fmt::format("{} and {}", n, k));
  const bool sane =
      (log_density < std::numeric_limits<double>::infinity()).all().item<bool>();  // false for NaN
  check(sane, kFunction, "log densities below infinity", "a NaN or an infinite one");
  // Relative to the best model of the row, so that nothing underflows for all models. A row that no model
  // explains says nothing.
  const at::Tensor best = log_density.amax(1, /*keepdim=*/true);
  const at::Tensor p = at::where(at::isfinite(best), (log_density.to(at::kDouble) - best).exp(), 1.0);
  at::Tensor w = at::full({k}, 1.0 / static_cast<double>(k), at::kDouble);
  if (rows.defined()) check_shape(rows, {n}, kFunction, "rows");
  const double all = total_of(rows, n) + static_cast<double>(k);
  constexpr int kMost = 5000;
  for (int step = 0; step < kMost; ++step) {
    const at::Tensor joint = p * w;
    const at::Tensor share = joint / joint.sum(1, true);
    const at::Tensor next = ((rows.defined() ? at::mv(share.t(), rows) : share.sum(0)) + 1) / all;
    const double change = (next - w).abs().max().item<double>();
    w = next;
    if (change < 1e-9) break;
  }
  return {w.const_data_ptr<double>(), w.const_data_ptr<double>() + k};
}

}  // namespace slimbayes
