// Computes hashes that recognise a row that was seen before. Such a hash covers the cells and the encoding of
// the row. The encoding alone is not enough, because different cells may have the same encoding (all unknown
// words share a token). The cells alone are not enough either, because an encoding may depend on other rows
// (a missing cell of a window is carried forward from an earlier row). Cells are hashed column by column into
// one number per row, in O(cells) time and 8 bytes per row.
#include "slimbayes/data/rows/row_hash.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"
#include "slimbayes/data/table/cell.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace slimbayes {

namespace {

using Hashes = std::vector<uint64_t>;

/// Mixes a number into a hash. All NaNs (missing cells) count as one value, and 0 and -0 as one.
void mix_number(uint64_t& hash, double x) {
  const double cell = std::isnan(x) ? kMissing : x + 0.0;
  hash = XXH3_64bits_withSeed(&cell, sizeof cell, hash);
}

void mix_text(uint64_t& hash, std::string_view text) {
  hash = XXH3_64bits_withSeed(text.data(), text.size(), hash);
}

/// Mixes a column of categories into the hash of each row. `levels` are the categories of training. If the
/// file was read with numbers, booleans or times in this column, a cell is hashed as the training category
/// that reads as this value, or, if there is none, as its own text.
void mix_names(Hashes& rows, const Column& column, const std::vector<std::string>& levels) {
  for (size_t row = 0; row < rows.size(); ++row) {
    const double x = column.values[row];
    if (std::isnan(x)) {
      mix_number(rows[row], x);
    } else if (column.kind == ColumnKind::categorical) {
      mix_text(rows[row], column.levels[static_cast<size_t>(x)]);
    } else {
      const int64_t like = level_like(levels, column.kind, x);
      mix_text(rows[row], like < 0 ? cell_text(column, x) : levels[static_cast<size_t>(like)]);
    }
  }
}

/// Mixes the column `name` into the hash of each row. `names` says whether the encoder treats it as a column
/// of categories, with these `levels`. Throws std::invalid_argument if the table does not have the column.
void mix_column(Hashes& rows, const Table& table, const std::string& name, bool names,
                const std::vector<std::string>& levels = {}) {
  const Column* column = table.find(name);
  if (column == nullptr) refuse("cell_hashes", "a column " + in_quotes(name), "a table without it");
  if (names) return mix_names(rows, *column, levels);
  for (size_t row = 0; row < rows.size(); ++row) mix_number(rows[row], column->values[row]);
}

/// Returns a hash for each row of the table, of the cells that the encoder turns into features.
Hashes input_cells(const Encoder& encoder, const Table& table) {
  Hashes rows(static_cast<size_t>(table.rows), 0);
  for (const Encoder::Feature& feature : encoder.columns()) {
    if (feature.width() == 0) continue;
    mix_column(rows, table, feature.name, feature.kind == ColumnKind::categorical, feature.levels);
  }
  return rows;
}

Hashes window_cells(const WindowEncoder& encoder, const WindowTable& given) {
  const Windows& windows = *given.windows;
  Hashes rows = input_cells(encoder.rows(), *given.table);
  for (const std::string& name : encoder.options().group) {
    const Column* column = given.table->find(name);
    mix_column(rows, *given.table, name, column && column->kind == ColumnKind::categorical);
  }
  Hashes seen;
  for (const int64_t i : given.selected) {
    const int64_t last = windows.last[static_cast<size_t>(i)];
    uint64_t hash = 0;
    for (int64_t place = last - encoder.options().window + 1; place <= last; ++place) {
      const auto at = static_cast<size_t>(place);
      mix_number(hash, windows.time[at]);
      const uint64_t row = rows[static_cast<size_t>(windows.order[at])];
      hash = XXH3_64bits_withSeed(&row, sizeof row, hash);
    }
    seen.push_back(hash);
  }
  return seen;
}

}  // namespace

std::vector<uint64_t> cell_hashes(const InputEncoder& encoder, const Examples& examples) {
  Hashes hashes(static_cast<size_t>(count(examples)), 0);
  if (const auto* e = std::get_if<Encoder>(&encoder)) {
    hashes = input_cells(*e, std::get<Table>(examples));
  } else if (const auto* windows = std::get_if<WindowEncoder>(&encoder)) {
    hashes = window_cells(*windows, std::get<WindowTable>(examples));
  } else if (const auto* text = std::get_if<TextEncoder>(&encoder)) {
    mix_column(hashes, std::get<Table>(examples), text->options().column, /*names=*/true);
  }
  if (schema_of(encoder).task.kind == TaskKind::events) return hashes;
  const at::Tensor target = target_as_given(encoder, examples).to(at::kDouble).contiguous();
  for (size_t row = 0; row < hashes.size(); ++row)
    mix_number(hashes[row], target.const_data_ptr<double>()[row]);
  return hashes;
}

std::vector<int64_t> row_hashes(const Dataset& data) { return row_hashes(data, {}); }

std::vector<int64_t> row_hashes(const Dataset& data, const std::vector<uint64_t>& cells) {
  check(cells.empty() || std::ssize(cells) == data.size(), "row_hashes", "the cells of each row", "others");
  constexpr int64_t kBatchRows = 1024;
  std::vector<int64_t> hashes;
  for (int64_t low = 0; low < data.size(); low += kBatchRows) {
    const Batch batch = data.rows(at::arange(low, std::min(low + kBatchRows, data.size())));
    const int64_t b = batch.inputs.at(0).size(0);
    std::vector<uint64_t> seeds(static_cast<size_t>(b), 0);
    if (!cells.empty()) std::copy_n(cells.begin() + low, b, seeds.begin());
    const auto mix = [&](const at::Tensor& rows, const at::Tensor& lengths) {
      at::Tensor x = on_cpu(rows).reshape({b, -1}).contiguous();
      if (!cells.empty())
        x = x + 0;  // turns -0 into 0. Without `cells`, -0 stays: older files have such hashes
      const auto* bytes = static_cast<const char*>(x.const_data_ptr());
      const auto width = static_cast<size_t>(x.size(1) * x.element_size());
      for (int64_t i = 0; i < b; ++i) {
        const size_t used =
            lengths.defined() ? static_cast<size_t>(lengths[i].item<int64_t>() * x.element_size()) : width;
        uint64_t& seed = seeds[static_cast<size_t>(i)];
        seed = XXH3_64bits_withSeed(bytes + static_cast<size_t>(i) * width, used, seed);
      }
    };
    const at::Tensor lengths = batch.mask.defined() ? on_cpu(batch.mask).sum(1) : at::Tensor();
    for (const at::Tensor& input : batch.inputs) mix(input, lengths);
    if (batch.target.defined()) mix(batch.target, {});
    for (uint64_t seed : seeds) hashes.push_back(static_cast<int64_t>(seed));
  }
  return hashes;
}

uint64_t hash_of_rows(const std::vector<int64_t>& hashes) {
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(int64_t));
}

uint64_t rows_hash(const Dataset& data) { return hash_of_rows(row_hashes(data)); }

}  // namespace slimbayes
