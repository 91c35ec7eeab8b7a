#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace slimbayes::simulated {

/// A group of operations that is compared with the CPU, forward and backward.
struct Operations {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;  // of its inputs, which get gradients
  /// Returns the results. They may be of any type; those that have a gradient are followed backward.
  std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& x)> call;
  double tolerance = 0;  // relative to the largest number; 0: the same bits
};

const std::vector<Operations>& networks();  // layers and losses
const std::vector<Operations>& algebra();   // matrices, sums and shapes

}  // namespace slimbayes::simulated
