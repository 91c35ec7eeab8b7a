#include "slimbayes/storage/check.h"

#include <fmt/format.h>

#include <stdexcept>

namespace slimbayes {

void refuse(std::string_view function, std::string_view expected, std::string_view received,
            std::string_view hint) {
  throw std::invalid_argument(fmt::format("[{}] expected {}; received {}{}{}", function, expected, received,
                                          hint.empty() ? "" : "; ", hint));
}

void internal_check(bool ok, std::string_view function, std::string_view what, std::string_view name) {
  if (!ok)
    throw std::logic_error(fmt::format("[{}] internal error: {}{}{}; please report it", function, what,
                                       name.empty() ? "" : " ", name));
}

}  // namespace slimbayes
