#pragma once

#include <ATen/ATen.h>

#include "slimbayes/data/dataset.h"

namespace slimbayes {

/// Rows with whole weights, and the rows that they stand for.
struct RepeatedRows {
  Dataset weighted, repeated;
};

/// Returns the rows with the weights 1, 2, 3, 1, 2, ..., and each row as often as its weight says, copies
/// beside each other.
inline RepeatedRows counted(const Dataset& rows) {
  const at::Tensor times = 1 + at::arange(rows.size()).remainder(3);
  return {weighted(rows, times), rows.subset(at::repeat_interleave(at::arange(rows.size()), times))};
}

}  // namespace slimbayes
