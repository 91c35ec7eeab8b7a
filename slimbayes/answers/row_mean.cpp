#include "slimbayes/answers/row_mean.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

at::Tensor checked_weight(const at::Tensor& weight, int64_t n, std::string_view function) {
  if (!weight.defined()) return {};
  check_shape(weight, {n}, function, "weight");
  check_finite(weight, function, "weight");
  const at::Tensor own = weight.detach().to(at::kDouble).contiguous();
  if (n > 0 && !(own.min().item<double>() > 0))
    refuse(function, "weights above 0", fmt::format("{}", own.min().item<double>()),
           "leave the rows of weight 0 out");
  return own;
}

double weighted_mean(const at::Tensor& x, const at::Tensor& weights) {
  if (!weights.defined()) return x.mean(at::kDouble).item<double>();
  return (x.to(at::kDouble) * on_device(weights, x.device())).sum().item<double>() /
         weights.sum().item<double>();
}

double row_mean(const at::Tensor& x, const at::Tensor& weight, std::string_view function) {
  return weighted_mean(x, weight.defined() ? checked_weight(weight, x.size(0), function) : weight);
}

double total_weight(const at::Tensor& weight, int64_t n) {
  return weight.defined() ? weight.sum(at::kDouble).item<double>() : static_cast<double>(n);
}

at::Tensor weight_before(const at::Tensor& weight) {
  return at::cat({at::zeros({1}, at::kDouble), weight.to(at::kDouble).cumsum(0)});
}

double effective_rows(const at::Tensor& weight) {
  const at::Tensor w = weight.to(at::kDouble) / weight.max();  // the squares of huge weights would overflow
  const double sum = w.sum().item<double>();
  return sum * sum / w.square().sum().item<double>();
}

void set_weight(const at::Tensor& weight, Evaluation& report) {
  if (!weight.defined()) return;
  report.total_weight = total_weight(weight, weight.size(0));
  report.effective_rows = effective_rows(weight);
}

}  // namespace slimbayes
