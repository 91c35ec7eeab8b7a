#pragma once

#include <exception>
#include <optional>
#include <string>

namespace slimbayes {

/// Returns the message of an exception that concerns one fit only, so that the other fits of a call may still
/// succeed: a numerical failure, an option that does not suit the rows, too little memory. Returns nullopt
/// for other exceptions, which end the whole call.
std::optional<std::string> failure_of(const std::exception_ptr& thrown);

/// Returns whether the exception is a NumericalError.
bool is_numerical(const std::exception_ptr& thrown);

}  // namespace slimbayes
