#include "slimbayes/data/rows/repeated_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "slimbayes/core/check.h"

namespace slimbayes {

int64_t repeated_inputs(const at::Tensor& known, const at::Tensor& inputs) {
  check_shape(known, {-1, -1}, "repeated_inputs", "known");
  check_shape(inputs, {-1, known.size(1)}, "repeated_inputs", "inputs");
  // Adding 0 turns -0 into 0, so that numbers that are equal have the same bits.
  const at::Tensor a = (known.to(at::kDouble) + 0.0).contiguous();
  const at::Tensor b = (inputs.to(at::kDouble) + 0.0).contiguous();
  const auto row = [](const at::Tensor& x, int64_t i) {
    const auto* bytes = static_cast<const char*>(x.const_data_ptr());
    const size_t width = static_cast<size_t>(x.size(1)) * sizeof(double);
    return std::string_view(bytes + static_cast<size_t>(i) * width, width);
  };
  std::unordered_set<std::string_view> rows;
  for (int64_t i = 0; i < a.size(0); ++i) rows.insert(row(a, i));
  int64_t count = 0;
  for (int64_t i = 0; i < b.size(0); ++i) count += rows.contains(row(b, i));
  return count;
}

}  // namespace slimbayes
