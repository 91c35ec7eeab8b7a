#include "slimbayes/explain/permuted.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <variant>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"

namespace slimbayes {
namespace {

constexpr int64_t kStretch = 4;  // windows of a series that stay together

/// Returns the order in which n cells are dealt out again: stretches of `length` cells change places.
std::vector<int64_t> dealt(int64_t n, int64_t length, const Stream& stream) {
  const int64_t pieces = (n + length - 1) / length;
  const at::Tensor order = stream.permutation(pieces);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t piece = order[i].item<int64_t>();
    for (int64_t at = piece * length; at < std::min(n, (piece + 1) * length); ++at) out.push_back(at);
  }
  return out;
}

/// Returns the table with the cells of the columns in another order. `places` are the rows in the order in
/// which stretches of `length` of them stay together.
Table dealt_out(const Table& table, const std::vector<std::string>& columns,
                const std::vector<int64_t>& places, int64_t length, const Stream& stream) {
  Table out = table;
  const std::vector<int64_t> from = dealt(std::ssize(places), length, stream);
  for (const std::string& name : columns) {
    const auto column = std::ranges::find(out.columns, name, &Column::name);
    if (column == out.columns.end())
      refuse("explain", "a column of the table", in_quotes(name), "give one of its columns");
    const std::vector<double> cells = column->values;
    for (size_t i = 0; i < places.size(); ++i)
      column->values[static_cast<size_t>(places[i])] =
          cells[static_cast<size_t>(places[static_cast<size_t>(from[i])])];
  }
  return out;
}

}  // namespace

Examples permuted(const Examples& examples, const std::vector<std::string>& columns, const Stream& stream) {
  if (const auto* windows = std::get_if<WindowTable>(&examples)) {
    WindowTable out = *windows;
    const auto n = static_cast<int64_t>(windows->windows->order.size());
    const int64_t length =
        std::clamp<int64_t>(kStretch * windows->windows->options.window, 1, std::max<int64_t>(n / 8, 1));
    out.table = std::make_shared<const Table>(
        dealt_out(*windows->table, columns, windows->windows->order, length, stream));
    return out;
  }
  check(std::holds_alternative<Table>(examples), "explain", "rows of a table or windows", "images");
  const auto& table = std::get<Table>(examples);
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return dealt_out(table, columns, rows, 1, stream);
}

}  // namespace slimbayes
