#include "slimbayes/core/check.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slimbayes {

namespace {

std::string text(at::IntArrayRef shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return out + "]";
}

/// Returns true if x is a contiguous float32 or float64 tensor on the CPU with at most 1024 elements, all of
/// them finite. On false, the caller must test x in another way. This shortcut is a plain loop: when a single
/// row is predicted, three calls of the tensor library would take a large part of the time.
bool is_small_and_finite(const at::Tensor& x) {
  constexpr int64_t kSmall = 1024;
  if (x.numel() > kSmall || !x.is_cpu() || !x.is_contiguous()) return false;
  const auto finite = [](const auto* first, int64_t n) {
    return std::all_of(first, first + n, [](auto value) { return std::isfinite(value); });
  };
  if (x.scalar_type() == at::kFloat) return finite(x.const_data_ptr<float>(), x.numel());
  return x.scalar_type() == at::kDouble && finite(x.const_data_ptr<double>(), x.numel());
}

}  // namespace

void check_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view function,
                 std::string_view name) {
  if (!x.defined()) refuse(function, fmt::format("{} of shape {}", name, text(shape)), "an undefined tensor");
  bool same = x.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; same && i < shape.size(); ++i) same = shape[i] < 0 || shape[i] == x.size(i);
  if (!same) refuse(function, fmt::format("{} of shape {}", name, text(shape)), text(x.sizes()));
}

void check_finite(const at::Tensor& x, std::string_view function, std::string_view name) {
  if (x.numel() == 0 || is_small_and_finite(x)) return;
  // If the sum is finite, every element is finite. Only if the sum is not finite are the elements tested one
  // by one, because the sum of finite elements may overflow.
  if (at::isfinite(x.sum()).item<bool>()) return;
  at::Tensor bad = at::isfinite(x.reshape({-1})).logical_not().nonzero();
  if (bad.numel() == 0) return;  // every element is finite, only their sum overflowed
  int64_t first = bad[0].item<int64_t>();
  std::string place = x.dim() == 2 ? fmt::format("row {}, column {}", first / x.size(1), first % x.size(1))
                                   : fmt::format("element {}", first);
  refuse(function, fmt::format("finite {}", name),
         fmt::format("{} of {} elements NaN or infinite, the first at {} (from 0)", bad.numel(), x.numel(),
                     place),
         "remove or impute them");
}

}  // namespace slimbayes
