#pragma once

#include <string_view>

#include "slimbayes/export.h"

namespace slimbayes {

/// Refuses what a user asked for or gave: throws std::invalid_argument("[function] expected ...; received
/// ...; hint"). An empty hint is left out of the message.
[[noreturn]] SLIMBAYES_EXPORT void refuse(std::string_view function, std::string_view expected,
                                          std::string_view received, std::string_view hint = "");

/// Refuses unless `ok`. For messages that are ready: where a text has to be made, write `if (...)
/// refuse(...)`, which makes it for the mistake alone.
inline void check(bool ok, std::string_view function, std::string_view expected, std::string_view received,
                  std::string_view hint = "") {
  if (!ok) refuse(function, expected, received, hint);
}

/// Checks a condition that only a bug of the library can violate: throws std::logic_error unless `ok`. `what`
/// says what went wrong, `name` with what, or nothing.
SLIMBAYES_EXPORT void internal_check(bool ok, std::string_view function, std::string_view what,
                                     std::string_view name = "");

}  // namespace slimbayes
