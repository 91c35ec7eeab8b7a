#pragma once

#include <string>

namespace slimbayes {

/// Returns a share as "91.3 %".
std::string percent_text(double share);

/// Returns a number for a person: four significant digits, without an exponent from 0.0001 to 1e9; "-" if it
/// is not finite.
std::string number_text_of(double x);

}  // namespace slimbayes
