#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace slimbayes {

/// A factorisation or an optimisation that failed for numerical reasons; the message says matrix size,
/// first failing pivot and what the user can do.
class NumericalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A user's mistake: throws std::invalid_argument("[function] expected; received ...; hint") unless `ok`.
void check(bool ok, std::string_view function, std::string_view expected, std::string_view received,
           std::string_view hint = "");

/// Our own bug: throws std::logic_error unless `ok`.
void internal_check(bool ok, std::string_view function, std::string_view what);

/// Throws std::invalid_argument unless `x` has this shape; -1 stands for any size.
void check_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view function,
                 std::string_view name);

/// Throws std::invalid_argument unless every element is finite; says how many are not and where the first is.
void check_finite(const at::Tensor& x, std::string_view function, std::string_view name);

}  // namespace slimbayes
