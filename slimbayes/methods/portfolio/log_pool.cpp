#include "slimbayes/methods/portfolio/log_pool.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>

#include "slimbayes/answers/mixture.h"
#include "slimbayes/core/check.h"
#include "slimbayes/core/linalg.h"
#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/portfolio/tempering.h"

namespace slimbayes {

namespace {

at::Tensor log_probabilities(const Classes& p) {
  constexpr double kLeast = 1e-12;
  return p.probabilities.to(at::kDouble).clamp_min(kLeast).log();
}

/// What log_pool_weights() minimises: the negative log posterior of the weights, with its derivatives.
class NegativeLogPosterior {
 public:
  NegativeLogPosterior(const std::vector<Classes>& parts, const at::Tensor& y, at::Tensor rows)
      : rows_(std::move(rows)) {
    const at::Tensor column = y.to(at::kLong).unsqueeze(1);
    std::vector<at::Tensor> of_class;
    for (const Classes& part : parts) {
      logs_.push_back(log_probabilities(part));
      of_class.push_back(logs_.back().gather(1, column).squeeze(1));
    }
    right_ = at::stack(of_class, 1);
  }

  double value(const at::Tensor& w) const {
    const at::Tensor all = logits(w).logsumexp(1) - at::mv(right_, w);
    return (counted(all).sum() + 0.5 * off(w).square().sum()).item<double>();
  }

  struct Derivatives {
    at::Tensor gradient, hessian;  // [k], [k, k]
  };

  Derivatives derivatives(const at::Tensor& w) const {
    const int64_t k = right_.size(1);
    const at::Tensor q = at::softmax(logits(w), 1);
    std::vector<at::Tensor> means;  // of the log probabilities of each part under the pool
    for (const at::Tensor& log : logs_) means.push_back((q * log).sum(1));
    const at::Tensor mean = at::stack(means, 1);  // [n, k]
    at::Tensor hessian = at::eye(k, at::kDouble) - at::mm(mean.t(), counted(mean));
    for (int64_t i = 0; i < k; ++i) {
      const at::Tensor weighted = counted(q * logs_[i]);
      for (int64_t j = 0; j <= i; ++j) {
        const at::Tensor sum = (weighted * logs_[j]).sum();
        hessian[i][j] += sum;
        if (j < i) hessian[j][i] += sum;
      }
    }
    return {counted(mean - right_).sum(0) + off(w), hessian};
  }

 private:
  /// Returns x [n, ...] with each row times its weight.
  at::Tensor counted(const at::Tensor& x) const {
    if (!rows_.defined()) return x;
    return x * (x.dim() == 1 ? rows_ : rows_.unsqueeze(1));
  }

  /// The distance from the mean of the prior.
  at::Tensor off(const at::Tensor& w) const { return w - 1 / static_cast<double>(right_.size(1)); }

  at::Tensor logits(const at::Tensor& w) const {
    at::Tensor z = at::zeros_like(logs_.front());
    for (size_t i = 0; i < logs_.size(); ++i) z = z + w[static_cast<int64_t>(i)] * logs_[i];
    return z;
  }

  std::vector<at::Tensor> logs_;  // k of [n, C]
  at::Tensor right_;              // [n, k] log probabilities of the classes that came
  at::Tensor rows_;               // [n] weights; undefined: each row counts once
};

}  // namespace

Classes log_pool(const std::vector<Classes>& parts, const std::vector<double>& weights) {
  const auto mean = std::get<Classes>(mixture(std::vector<Predictive>(parts.begin(), parts.end()), weights));
  at::Tensor logits = at::zeros_like(mean.probabilities);
  for (size_t i = 0; i < parts.size(); ++i) logits = logits + weights[i] * log_probabilities(parts[i]);
  return with_probabilities(mean, at::softmax(logits, -1));
}

std::vector<double> log_pool_weights(const std::vector<Classes>& parts, const at::Tensor& y,
                                     const at::Tensor& rows) {
  constexpr const char* kFunction = "log_pool_weights";
  check(!parts.empty(), kFunction, "at least one part", "none");
  const at::Tensor& first = parts.front().probabilities;
  for (const Classes& part : parts) check_shape(part.probabilities, first.sizes(), kFunction, "a part");
  check_shape(y, {first.size(0)}, kFunction, "y");
  if (rows.defined()) check_shape(rows, {first.size(0)}, kFunction, "rows");
  if (!(((y >= 0) & (y < first.size(1)) & (y == y.floor())).all().item<bool>()))
    refuse(kFunction, fmt::format("numbers of classes below {}", first.size(1)), "others");

  const auto k = static_cast<int64_t>(parts.size());
  const NegativeLogPosterior objective(parts, y, rows);
  at::Tensor w = at::full({k}, 1 / static_cast<double>(k), at::kDouble);
  double value = objective.value(w);
  const double close = 1e-9 * (total_of(rows, y.size(0)) + 1);
  constexpr int kMost = 100;
  for (int step = 0; step < kMost; ++step) {
    const auto local = objective.derivatives(w);
    // A weight of 0 that the gradient holds there takes no part in the step.
    const at::Tensor free = at::nonzero((w > 0) | (local.gradient < 0)).squeeze(1);
    const at::Tensor gradient = local.gradient.index_select(0, free);
    if (free.numel() == 0 || gradient.abs().max().item<double>() < close) break;
    const Cholesky factor = safe_cholesky(local.hessian.index_select(0, free).index_select(1, free));
    const at::Tensor newton = solve_cholesky(factor.factor, gradient.unsqueeze(1)).squeeze(1);
    const at::Tensor direction = at::zeros_like(w).index_put({free}, -newton);
    bool lower = false;
    for (double by = 1; by > 1e-8 && !lower; by /= 2) {  // backtracking, Armijo's condition
      const at::Tensor next = (w + by * direction).clamp_min(0);
      const double promised = at::dot(local.gradient, next - w).item<double>(), found = objective.value(next);
      lower = found <= value + 1e-4 * promised && promised < 0;
      if (lower) {
        w = next;
        value = found;
      }
    }
    if (!lower) break;  // rounding leaves nothing to gain
  }
  return {w.const_data_ptr<double>(), w.const_data_ptr<double>() + k};
}

}  // namespace slimbayes
