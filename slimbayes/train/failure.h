#pragma once

#include <exception>
#include <optional>
#include <string>

namespace slimbayes {

/// Returns the message of an exception that says that this fit cannot be made, although others may: a
/// numerical failure, an option that does not suit the rows, too little memory. Nothing for other exceptions,
/// which end the whole call.
std::optional<std::string> failure_of(const std::exception_ptr& thrown);

/// Returns whether the exception is a NumericalError.
bool is_numerical(const std::exception_ptr& thrown);

}  // namespace slimbayes
