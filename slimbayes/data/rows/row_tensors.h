#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/encoder.h"

namespace slimbayes {

// What encoding/ makes of the rows of a table, as tensors.

/// Returns the encoded inputs [n, d] of the table, float32 (Encoder::inputs, which writes them into the
/// tensor). Throws and fills `bad` as it does.
at::Tensor input_tensor(const Encoder& encoder, const Table& table, std::vector<BadRow>* bad = nullptr);

/// Returns target_values of the table as a tensor [n], float64. Throws as target_values.
at::Tensor target_tensor(const Table& table, const std::string& target, const Task& task);

/// Returns the encoded rows of the table: the inputs and, if `with_target`, the target. Events have no
/// target. Throws and fills `bad` as Encoder::inputs.
Dataset row_dataset(const Encoder& encoder, const Table& table, bool with_target,
                    std::vector<BadRow>* bad = nullptr);

}  // namespace slimbayes
