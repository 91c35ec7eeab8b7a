#include "slimbayes/report/figure_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slimbayes/report/time_ticks.h"

namespace slimbayes {

Mark line_mark(const std::string& label, const std::string& colour, std::vector<double> x,
               std::vector<double> y) {
  return {Mark::Kind::line, label, colour, 1, std::move(x), std::move(y), {}, false, 1.8};
}

Mark diagonal_mark(const std::string& label) {
  return {Mark::Kind::line, label, "grey", 1, {0, 1}, {0, 1}, {}, /*dashed=*/true, 1.2};
}

Extent extent_of(std::vector<double> numbers, double cut) {
  if (numbers.empty()) return {0, 1};
  std::ranges::sort(numbers);
  const auto skip = static_cast<size_t>(cut * static_cast<double>(numbers.size()));
  return {numbers[skip], numbers[numbers.size() - 1 - skip]};
}

Extent padded(Extent extent) {
  constexpr double kMargin = 0.03;
  const double span = extent.high - extent.low;
  if (!std::isfinite(span)) return extent;
  if (span <= 0)
    return {extent.low - 0.5 - 0.01 * std::abs(extent.low), extent.low + 0.5 + 0.01 * std::abs(extent.low)};
  return {extent.low - kMargin * span, extent.high + kMargin * span};
}

Extent visible_extent(const std::vector<double>& numbers) {
  const Extent all = extent_of(numbers, 0), middle = extent_of(numbers, 0.005);
  return all.high - all.low > 2.5 * (middle.high - middle.low) && middle.high > middle.low ? middle : all;
}

std::vector<double> edges_of_bins(size_t bins, double low, double high) {
  std::vector<double> edges;
  for (size_t i = 0; i <= bins; ++i)
    edges.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(bins));
  return edges;
}

std::vector<Tick> ticks_for_column(const std::string& kind, Extent extent, int most) {
  return kind == "datetime" ? time_ticks(extent, most) : std::vector<Tick>{};
}

std::string shortened_text(const std::string& text, size_t most) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
  size_t characters = 0, cut = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if (!begins(text[i])) continue;
    if (++characters == most) cut = i;
  }
  return characters <= most ? text : text.substr(0, cut) + "\u2026";
}

std::string words_of_score(const std::string& name) {
  if (name == "distance") return "distance from the training mean, sds";
  if (name == "max_softmax") return "confidence";
  std::string words = name;
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace slimbayes
