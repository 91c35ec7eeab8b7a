#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "slimbayes/export.h"
#include "slimbayes/storage/check.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

/// Throws std::invalid_argument unless `x` is defined and has this shape; -1 in `shape` stands for any size.
/// The message names `function` and calls the tensor `name`.
SLIMBAYES_EXPORT void check_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view function,
                                  std::string_view name);

/// Throws std::invalid_argument unless every element of `x` is finite. The message says how many elements are
/// NaN or infinite and where the first of them is; it names `function` and calls the tensor `name`.
SLIMBAYES_EXPORT void check_finite(const at::Tensor& x, std::string_view function, std::string_view name);

}  // namespace slimbayes
