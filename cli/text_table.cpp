#include "cli/text_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "cli/terminal.h"

namespace slimbayes::cli {
namespace {

constexpr double kLongest = 1e9;  // larger numbers are written with an exponent, such as 1.234e+10
constexpr int kColumnGap = 2;

std::string padding(size_t width, const std::string& text) {
  return std::string(width - std::min(width, display_width(text)), ' ');
}

// Returns the text of a cell, padded with blanks to `width` columns. The mark of the best cell (star or
// escape codes) is added to that width.
std::string set_in(const Cell& cell, size_t width, bool left, bool terminal) {
  const std::string blanks = padding(width, cell.text);
  const std::string text = cell.best && terminal ? "\x1b[1m" + cell.text + "\x1b[0m" : cell.text;
  const std::string mark = terminal || left ? "" : cell.best ? "*" : " ";
  return left ? text + blanks : blanks + text + mark;
}

/// Returns the first column of the table and, beside it, the columns from `first` up to `end`, excluding
/// `end`.
std::string block(const std::vector<std::vector<Cell>>& rows, const std::vector<size_t>& widths, size_t first,
                  size_t end, bool terminal) {
  std::string text;
  for (const auto& row : rows) {
    std::string line = set_in(row[0], widths[0], true, terminal);
    for (size_t i = first; i < std::min(end, row.size()); ++i)
      line += std::string(kColumnGap, ' ') + set_in(row[i], widths[i], false, terminal);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Returns the number of decimals that show `digits` significant digits of x.
int decimals_of(double x, int digits) {
  return std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(x)))));
}

}  // namespace

std::string text_table(std::vector<std::vector<Cell>> rows) {
  const std::optional<size_t> limit = terminal_width(STDOUT_FILENO);
  for (auto& row : rows) {
    for (Cell& cell : row) cell.text = shown(cell.text);
  }
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  std::string text;
  size_t first = 1;
  do {
    size_t end = first, used = widths.empty() ? 0 : widths[0];
    while (end < widths.size() && (end == first || !limit || used + kColumnGap + widths[end] <= *limit))
      used += kColumnGap + widths[end++];
    text += (text.empty() ? "" : "\n") + block(rows, widths, first, end, limit.has_value());
    first = end;
  } while (first < widths.size());
  return text;
}

std::string rounded(double x) {
  const double size = std::abs(x);
  if (!std::isfinite(x) || x == 0) return fmt::format("{}", x);
  return size >= 1e4 && size < kLongest ? fmt::format("{:.0f}", x) : fmt::format("{:#.4g}", x);
}

std::string decimals(double number) { return fmt::format("{:.4f}", number); }

NumberFormat::NumberFormat(std::span<const double> numbers) {
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (double x : numbers) {
    if (!std::isfinite(x) || x == 0) continue;
    most = std::max(most, std::abs(x));
    least = std::min(least, std::abs(x));
  }
  if (most == 0) return;
  decimals_ = std::min(decimals_of(least, 4), decimals_of(most, 4) + 2);
  exponent_ = most >= kLongest || most < 1e-4;
}

std::string NumberFormat::operator()(double x) const {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  return exponent_ ? fmt::format("{:.3e}", x) : fmt::format("{:.{}f}", x, decimals_);
}

std::vector<std::string> aligned(std::span<const Spread> spreads, const NumberFormat& format) {
  std::vector<std::string> means, sds;
  size_t mean_width = 0, sd_width = 0;
  for (const Spread& s : spreads) {
    means.push_back(format(s.mean));
    sds.push_back(std::isnan(s.sd) ? "" : format(s.sd));
    mean_width = std::max(mean_width, means.back().size());
    sd_width = std::max(sd_width, sds.back().size());
  }
  std::vector<std::string> cells;
  for (size_t i = 0; i < means.size(); ++i) {
    std::string cell = padding(mean_width, means[i]) + means[i];
    if (sd_width > 0) {
      cell += (sds[i].empty() ? "   " : " ± ") + padding(sd_width, sds[i]) + sds[i];
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace slimbayes::cli
