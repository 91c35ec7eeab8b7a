#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

/// Describes the rows of a dataset: what is predicted, and what the inputs of one row are.
struct Schema {
  Task task;
  /// Names of the encoded features of one row of a table, or of one time step of a window; empty for images.
  std::vector<std::string> features;
  Shape input = {};    // shape of the inputs of one row, without the batch
  int64_t tokens = 0;  // text: number of different tokens, with padding and unknown
};

}  // namespace slimbayes
