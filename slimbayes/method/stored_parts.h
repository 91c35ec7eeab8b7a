#pragma once

#include <string>

#include "slimbayes/storage/tensor_file.h"

namespace slimbayes {

// A method that consists of other fitted methods (ensemble, auto) stores each of them under a prefix.

/// Adds the entries of `part` to `file`, with `prefix` before every name.
void store_under(const std::string& prefix, TensorFile part, TensorFile& file);

/// Returns the entries of `file` whose names begin with `prefix`, without it.
TensorFile part_under(const std::string& prefix, const TensorFile& file);

}  // namespace slimbayes
