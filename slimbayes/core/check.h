#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace slimbayes {

/// A computation that failed for numerical reasons, such as a factorisation or an optimisation. The message
/// says what was expected, what was found (for a factorisation: the matrix size and the first failing pivot)
/// and, where possible, what the user can do.
class NumericalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reports a mistake of the user: throws std::invalid_argument("[function] expected ...; received ...; hint")
/// unless `ok`.
void check(bool ok, std::string_view function, std::string_view expected, std::string_view received,
           std::string_view hint = "");

/// Reports a bug of the library itself: throws std::logic_error unless `ok`.
void internal_check(bool ok, std::string_view function, std::string_view what);

/// Throws std::invalid_argument unless `x` is defined and has this shape; -1 stands for any size. `name` is
/// the name of `x` in the message.
void check_shape(const at::Tensor& x, at::IntArrayRef shape, std::string_view function,
                 std::string_view name);

/// Throws std::invalid_argument unless every element is finite; the message says how many are not and where
/// the first one is.
void check_finite(const at::Tensor& x, std::string_view function, std::string_view name);

}  // namespace slimbayes
