#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Returns whole weights of n rows: 1, 2, 3, 1, 2, 3, ... [n] float64
inline at::Tensor whole_weights(int64_t n) { return at::arange(n).remainder(3).to(at::kDouble) + 1; }

/// Returns x [n, ...], or the rows of a dataset, with each row repeated as often as its whole weight says.
inline at::Tensor repeated(const at::Tensor& x, const at::Tensor& weights) {
  return x.repeat_interleave(weights.to(at::kLong), 0);
}
inline Dataset repeated(const Dataset& rows, const at::Tensor& weights) {
  return rows.subset(repeated(at::arange(rows.size()), weights));
}

}  // namespace slimbayes
