#include "slimbayes/data/examples.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/storage/error.h"

namespace slimbayes {

namespace {

/// Computes one hash of several parts, added one after the other. The size of each part is hashed too, so
/// that the same bytes cut into other parts give another hash.
class Hash {
 public:
  Hash() : state_(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void add(const void* bytes, size_t size) {
    XXH3_128bits_update(state_.get(), &size, sizeof size);
    XXH3_128bits_update(state_.get(), bytes, size);
  }

  void add(const at::Tensor& tensor) {
    const at::Tensor whole = tensor.contiguous();
    add(whole.const_data_ptr(), static_cast<size_t>(whole.numel()) * whole.element_size());
  }

  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

/// Returns the part of the first reason that starts at its last "; ", if all reasons end with the same part;
/// else "". This part is the advice of a reason.
std::string shared_end(const std::vector<BadRow>& bad) {
  const std::string& first = bad.front().reason;
  const size_t cut = first.rfind("; ");
  const std::string end = cut == std::string::npos ? "" : first.substr(cut);
  const auto has_it = [&](const BadRow& one) { return one.reason.ends_with(end); };
  return std::ranges::all_of(bad, has_it) ? end : "";
}

}  // namespace

int64_t count(const Examples& examples) {
  if (const auto* table = std::get_if<Table>(&examples)) return table->rows;
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return std::ssize(windows->selected);
  const at::Tensor& pixels = std::get<Images>(examples).pixels;
  return pixels.defined() ? pixels.size(0) : 0;
}

const std::string& source_of(const Examples& examples) {
  if (const auto* table = std::get_if<Table>(&examples)) return table->source;
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return windows->table->source;
  return std::get<Images>(examples).source;
}

Examples take(const Examples& examples, const std::vector<int64_t>& places) {
  if (const auto* table = std::get_if<Table>(&examples)) return take_rows(*table, places);
  if (const auto* images = std::get_if<Images>(&examples)) return take_images(*images, places);
  const auto& windows = std::get<WindowTable>(examples);
  WindowTable some{windows.table, windows.windows, {}};
  for (int64_t place : places) {
    if (!(place >= 0 && place < std::ssize(windows.selected)))
      refuse("take", fmt::format("windows from 0 to below {}", windows.selected.size()),
             fmt::format("{}", place));
    some.selected.push_back(windows.selected[static_cast<size_t>(place)]);
  }
  return some;
}

std::shared_ptr<const Table> last_rows(const Examples& examples) {
  if (const auto* table = std::get_if<Table>(&examples))
    return {table, [](const Table*) {}};  // not owned: `examples` owns the table
  const auto* windows = std::get_if<WindowTable>(&examples);
  if (windows == nullptr) return nullptr;
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < std::ssize(windows->selected); ++i) rows.push_back(last_row(*windows, i));
  return std::make_shared<const Table>(take_rows(*windows->table, rows));
}

std::string place_of(const Examples& examples, int64_t example) {
  if (const auto* table = std::get_if<Table>(&examples)) return row_place(*table, example);
  if (const auto* windows = std::get_if<WindowTable>(&examples))
    return fmt::format("the window up to {}", row_place(*windows->table, last_row(*windows, example)));
  return fmt::format("image {}", example + 1);
}

const char* noun_of(const Examples& examples) {
  if (std::holds_alternative<Table>(examples)) return "row";
  return std::holds_alternative<WindowTable>(examples) ? "window" : "image";
}

std::string bad_examples_text(const Examples& examples, const std::vector<BadRow>& bad,
                              const std::string& done) {
  constexpr size_t kShown = 3;
  const std::string advice = bad.empty() ? "" : shared_end(bad);
  std::string text = fmt::format("{} of {} without an answer, {}: ", bad.size(),
                                 counted(count(examples), noun_of(examples)), done);
  for (size_t i = 0; i < bad.size() && i < kShown; ++i) {
    const std::string& reason = bad[i].reason;
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", place_of(examples, bad[i].row),
                        reason.substr(0, reason.size() - advice.size()));
  }
  if (bad.size() > kShown) text += fmt::format("; and {} more", bad.size() - kShown);
  return text + advice;
}

void throw_bad_example(const Examples& examples, const BadRow& bad) {
  if (const auto* table = std::get_if<Table>(&examples)) throw_bad_cell(*table, bad.row, bad.reason);
  throw DataError(source_of(examples), fmt::format("{}: {}", place_of(examples, bad.row), bad.reason));
}

std::string table_hash(const Table& table) {
  Hash hash;
  for (const Column& column : table.columns) {
    hash.add(column.name.data(), column.name.size());
    hash.add(&column.kind, sizeof column.kind);
    for (const std::string& level : column.levels) hash.add(level.data(), level.size());
    if (column.kind == ColumnKind::boolean) {  // the spellings name the classes of a target
      for (const std::string& word : column.words) hash.add(word.data(), word.size());
    }
    hash.add(column.values.data(), column.values.size() * sizeof(double));
  }
  return hash.text();
}

std::string hash_of(const Examples& examples) {
  if (const auto* table = std::get_if<Table>(&examples)) return table_hash(*table);
  if (const auto* windows = std::get_if<WindowTable>(&examples)) return table_hash(*windows->table);
  const auto& images = std::get<Images>(examples);
  Hash hash;
  const at::IntArrayRef sizes = images.pixels.sizes();
  hash.add(sizes.data(), sizes.size() * sizeof(int64_t));
  hash.add(images.pixels);
  if (images.labels.defined()) hash.add(images.labels);
  return hash.text();
}

std::vector<int64_t> alike_images(const Images& images) {
  std::unordered_map<std::string, int64_t> known;
  std::vector<int64_t> alike;
  for (int64_t i = 0; i < images.pixels.size(0); ++i) {
    Hash hash;
    hash.add(images.pixels[i]);
    alike.push_back(known.try_emplace(hash.text(), std::ssize(known)).first->second);
  }
  return alike;
}

std::vector<int64_t> alike_texts(const Table& table, const std::string& column) {
  const Column* texts = table.find(column);
  check(texts != nullptr, "alike_texts", "a column of text", "a table without it");
  std::unordered_map<double, int64_t> known;  // equal texts have the same level number
  std::vector<int64_t> alike;
  for (double x : texts->values)
    alike.push_back(known.try_emplace(std::isnan(x) ? -1 : x, std::ssize(known)).first->second);
  return alike;
}

}  // namespace slimbayes
