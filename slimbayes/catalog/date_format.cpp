#include "slimbayes/catalog/date_format.h"

#include <fmt/format.h>

namespace slimbayes {

std::string fault_of_date_format(std::string_view format) {
  // Which part of a time each field is: two fields of one part contradict each other.
  constexpr std::string_view kFields = "YymbBdHIMSp", kParts = "yymmmdHHMSp";
  std::string parts;
  bool half_day = false;
  for (size_t at = format.find('%'); at != format.npos; at = format.find('%', at + 2)) {
    const char field = at + 1 < format.size() ? format[at + 1] : ' ';
    if (field == '%') continue;
    const size_t known = kFields.find(field);
    if (known == kFields.npos) return fmt::format("the field '%{}'", field);
    if (parts.find(kParts[known]) != parts.npos) return fmt::format("'%{}' for a part given twice", field);
    parts += kParts[known];
    half_day = half_day || field == 'I';
  }
  const auto has = [&](char part) { return parts.find(part) != parts.npos; };
  if (!has('y') || !has('m')) return has('y') ? "no month" : "no year";
  if (half_day != has('p')) return half_day ? "'%I' without '%p'" : "'%p' without '%I'";
  if ((has('M') && !has('H')) || (has('S') && !has('M'))) return "a time of day without its hours or minutes";
  return "";
}

}  // namespace slimbayes
