#include "slimbayes/encoding/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/check.h"

namespace slimbayes {

namespace {

Axis parse_axis(const std::string& text, const std::string& whole) {
  size_t colon = text.find(':');
  auto number = [](const std::string& part) { return parse_number(trimmed(part)).value_or(NAN); };
  Axis axis{NAN, NAN};
  if (colon != std::string::npos) axis = {number(text.substr(0, colon)), number(text.substr(colon + 1))};
  bool good = std::isfinite(axis.low) && std::isfinite(axis.high) && axis.low < axis.high;
  if (!good)
    refuse("domain", "an axis LOW:HIGH for each coordinate, comma-separated, LOW below HIGH",
           in_quotes(whole), "for instance `.domain=0:1,0:2`");
  return axis;
}

}  // namespace

std::vector<Axis> parse_domain(const std::string& text) {
  std::vector<Axis> axes;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    axes.push_back(parse_axis(text.substr(start, end - start), text));
    start = end + 1;
  }
  constexpr double kMost = 1e140;  // the variance of an intensity contains the squared volume
  const double size = volume(axes);
  if (!(size >= 1 / kMost && size <= kMost))
    refuse("domain", fmt::format("axes whose lengths have a product from {:g} to {:g}", 1 / kMost, kMost),
           fmt::format("{:g}", size), "take another unit for the coordinates");
  return axes;
}

double volume(const std::vector<Axis>& domain) {
  double product = 1;
  for (const Axis& axis : domain) product *= axis.high - axis.low;
  return product;
}

std::string fault_in_domain(const Column& column, double value, const Axis& axis, const char* hint) {
  double slack = 1e-9 * (axis.high - axis.low);  // allows for rounding of the ends
  if (value >= axis.low - slack && value <= axis.high + slack) return "";
  return fmt::format("expected {} inside its domain {}:{}; received {}; {}, or remove the row",
                     in_quotes(column.name), axis.low, axis.high,
                     std::isnan(value) ? std::string("a missing cell") : fmt::format("{}", value), hint);
}

void check_inside(const Table& table, const Column& column, const Axis& axis) {
  for (int64_t row = 0; row < table.rows; ++row) {
    const std::string fault =
        fault_in_domain(column, column.values[static_cast<size_t>(row)], axis, "widen `.domain`");
    if (!fault.empty()) throw_bad_cell(table, row, fault);
  }
}

}  // namespace slimbayes
