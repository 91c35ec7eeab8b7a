#pragma once

#include <string>
#include <string_view>

namespace slimbayes {

/// Returns what is wrong with a format of dates, in words, or "". It must have a year (%Y, or %y of two
/// digits) and a month (%m, or its English name %b), and may have a day (%d), a time of day (%H or %I with
/// %p, %M, %S) and %%, each field once.
std::string fault_of_date_format(std::string_view format);

}  // namespace slimbayes
