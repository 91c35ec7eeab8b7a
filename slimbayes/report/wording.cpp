#include "slimbayes/report/wording.h"

#include <fmt/format.h>

#include <cmath>

namespace slimbayes {

std::string percent_text(double share) {
  if (!std::isfinite(share)) return "-";
  const double percent = 100 * share;
  return fmt::format("{:.{}f} %", percent, std::abs(percent - std::round(percent)) < 1e-9 ? 0 : 1);
}

std::string number_text_of(double x) {
  constexpr double kMostDigits = 1e4, kLongest = 1e9;
  if (!std::isfinite(x)) return "-";
  return std::abs(x) >= kMostDigits && std::abs(x) < kLongest ? fmt::format("{:.0f}", x)
                                                              : fmt::format("{:.4g}", x);
}

}  // namespace slimbayes
