#include "slimbayes/encoding/bits.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

/// Returns 0 or 1 for each cell, NaN where it is missing; nullopt if a cell means neither.
std::optional<std::vector<double>> bits_of(const Column& column) {
  std::vector<double> meaning;  // of each level
  for (const std::string& level : column.levels) {
    const std::optional<bool> bit = parse_bit(trimmed(level));
    meaning.push_back(bit ? static_cast<double>(*bit) : 2);
  }
  std::vector<double> bits = column.values;
  if (column.kind == ColumnKind::categorical)
    for (double& x : bits)
      if (!std::isnan(x)) x = meaning[static_cast<size_t>(x)];
  const bool all = std::ranges::all_of(bits, [](double x) { return std::isnan(x) || x == 0 || x == 1; });
  return all && column.kind != ColumnKind::datetime ? std::optional(std::move(bits)) : std::nullopt;
}

/// Returns whether every level that occurs in the column is one of `levels`.
bool all_known(const Column& column, const std::vector<std::string>& levels) {
  std::vector<bool> known;
  for (const std::string& level : column.levels)
    known.push_back(std::ranges::find(levels, level) != levels.end());
  return std::ranges::all_of(column.values,
                             [&](double x) { return std::isnan(x) || known[static_cast<size_t>(x)]; });
}

}  // namespace

bool are_bits(const std::vector<std::string>& levels) {
  std::array<int, 2> found = {0, 0};
  for (const std::string& level : levels) {
    const std::optional<bool> bit = parse_bit(level);
    if (!bit || ++found[*bit ? 1 : 0] > 1) return false;
  }
  return !levels.empty();
}

std::optional<Column> bits_as(const Column& column, const TrainedBits& trained) {
  const bool names = trained.kind == ColumnKind::categorical;
  if (names && !are_bits(trained.levels)) return std::nullopt;
  if (column.kind == trained.kind && (!names || all_known(column, trained.levels))) return std::nullopt;
  std::optional<std::vector<double>> bits = bits_of(column);
  if (!bits) return std::nullopt;
  Column out{column.name, trained.kind, std::move(*bits), {}};
  if (names) out.levels = {"false", "true"};
  for (const std::string& level : trained.levels) out.levels[*parse_bit(level) ? 1 : 0] = level;
  out.kept = column.kept;
  return out;
}

}  // namespace slimbayes
