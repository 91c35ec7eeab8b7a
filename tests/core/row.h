#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace slimbayes {

/// Returns the numbers as a float64 tensor. [n]
inline at::Tensor row(std::vector<double> x) { return at::tensor(x, at::kDouble); }

}  // namespace slimbayes
