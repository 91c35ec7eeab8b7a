#include "slimbayes/fit/stream_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "slimbayes/catalog/fit_checks.h"
#include "slimbayes/catalog/fit_cost.h"
#include "slimbayes/catalog/methods.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
constexpr uint64_t kMostBytes = uint64_t{32} << 20;  // of the rows that each part keeps in memory

void check_streamed(const FitOptions& o) {
  const auto alone = [](bool fits, const char* received) {
    check(fits, "fit", "the rows of a table with a target, for `.cache`", received,
          "leave `.cache` out: such data are read into memory");
  };
  alone(input_kind(o) == InputKind::table, "another kind of input");
  alone(o.likelihood != LikelihoodKind::cox && !o.target.empty(), "rows without a target");
  alone(o.network_from.empty(), "`.network_from`, whose rows must be those of that model");
  alone(o.test_folds == 0, "folds");
  alone(o.weights.empty(), "`.weights`, whose mean and rows of weight 0 all rows must tell first");
  alone(o.split != "time", "`.split=time`, which needs the times of all rows");
  alone(o.scale_on == "train", "`.scale_on=all`, for the held-out rows");
  check(std::ranges::find(o.ignore, o.target) == o.ignore.end(), "fit", "a target that is not ignored",
        "an ignored one");
  const double calibration = o.calibrate == "none" ? 0 : o.calibration_fraction;
  check(o.test_fraction + o.valid_fraction + calibration < 1, "fit",
        "fractions of held-out rows below 1 in all", "larger ones",
        "lower `.valid_fraction` or `.test_fraction`");
  check(o.split == "auto" || o.split == "grouped" || o.split == "random", "fit",
        "a split 'auto', 'grouped' or 'random'", o.split);
}

/// Returns about how many rows of so many columns a fit of the method can hold in memory: two copies of the
/// rows and what the method takes beside them. At most `rows`.
int64_t rows_in_memory(const MethodInfo& method, const nlohmann::json& options, int64_t rows,
                       int64_t columns) {
  constexpr double kOfAll = 0.8, kOfCell = 16;
  const double memory = kOfAll * static_cast<double>(memory_at_hand());
  const auto fits = [&](int64_t n) {
    const FitSize size{.rows = n, .input = {{columns}}};
    const double beside = method.cost ? method.cost(size, options).bytes : 0;
    return kOfCell * static_cast<double>(n) * static_cast<double>(columns) + beside <= memory;
  };
  int64_t low = 0, high = rows + 1;  // low fits, high need not
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

bool streams(const MethodInfo& method, const MethodInfo& inner) {
  return method.streams || (!method.inner.empty() && inner.streams);
}

/// Throws the refusal of a method that needs so many rows (`rows`, in words) at once. `room`: how many of
/// them fit into memory; 0: all.
[[noreturn]] void refuse_method(const MethodInfo& method, const std::string& rows, int64_t room) {
  refuse("fit",
         fmt::format("a method that reads its rows batch by batch ({}) with `.cache`",
                     methods_that(&MethodInfo::streams)),
         fmt::format("{}, which needs {} at once", method.name, rows),
         fmt::format("name one of them, or leave `.cache` out{}",
                     room > 0 ? fmt::format(" and fit a part of the files: about {} rows fit into the "
                                            "memory at hand",
                                            room)
                              : ""));
}

/// Returns the method of a fit, or nullptr if the target's column has to decide it.
const MethodInfo* method_known(const FitOptions& o) {
  if (!o.method.empty()) return &find_method(o.method);
  if (const MethodInfo* own = default_method_of(o.likelihood)) return own;
  if (const auto task = task_known(o, InputKind::table)) return &default_method(*task, InputKind::table);
  const MethodInfo &of_numbers = default_method(TaskKind::regression, InputKind::table),
                   &of_classes = default_method(TaskKind::classification, InputKind::table);
  return &of_numbers == &of_classes ? &of_numbers : nullptr;
}

/// As check_streams, before the pass over the rows, which may take long: the first piece tells the number of
/// columns, and so about how many rows would fit into memory.
void check_streams_early(const FitOptions& o, TableStream& stream) {
  constexpr int64_t kMost = 1'000'000'000;  // rows
  const MethodInfo* method = method_known(o);
  if (method == nullptr || streams(*method, inner_method(*method, o.options))) return;
  const std::optional<Table> first = stream.next();
  const int64_t columns = first ? std::ssize(first->columns) : 1;
  refuse_method(*method, "all training rows",
                rows_in_memory(*method, method->resolve(o.options), kMost, columns));
}

/// Returns how the rows are dealt, after the checks of the options.
StreamOptions options_of_stream(const StreamedFiles& given, const FitOptions& o) {
  check_streamed(o);
  check_fractions(o);
  std::error_code failed;
  const bool is_file = std::filesystem::exists(given.cache.folder, failed);
  if (!std::filesystem::is_directory(given.cache.folder, failed))
    throw DataError(given.cache.folder.string(),
                    fmt::format("expected a folder for `.cache`; received {}",
                                is_file ? "a file; name a folder" : "none; create it"));
  if (given.cache.window < 1)
    refuse("fit", "at least one row for `.shuffle_rows`", std::to_string(given.cache.window));
  StreamOptions options{.target = o.target,
                        .ignore = perhaps_named(o.ignore),
                        .declared = perhaps_named(o.categorical),
                        .test = o.test_fraction,
                        .calibration = o.calibrate == "none" ? 0 : o.calibration_fraction,
                        .valid = given.own_valid ? 0 : o.valid_fraction,
                        .kind = o.split,
                        .seed = o.split_seed};
  // Of four parts, and of what encoding them takes. What is at hand may differ when a fit goes on.
  if (given.limits.memory > 0)
    options.most_bytes = std::clamp<uint64_t>(given.limits.memory / 32, uint64_t{1} << 16, kMostBytes);
  return options;
}

/// Throws, as together() does, unless the files of all ranks have the same names and sizes: they are dealt by
/// them.
void check_same_files(const TableStream& stream, const Collective& ranks) {
  const std::vector<std::string> own = stream.files();
  const std::vector<std::string> all = gather_texts(ranks, nlohmann::json(own).dump(-1, ' ', true, kReplace));
  together(&ranks, [&] {
    const auto first = nlohmann::json::parse(all[0]).get<std::vector<std::string>>();
    for (size_t r = 1; r < all.size(); ++r) {
      const auto other = nlohmann::json::parse(all[r]).get<std::vector<std::string>>();
      const auto [expected, received] = std::ranges::mismatch(first, other);
      if (expected == first.end() && received == other.end()) continue;
      const auto named = [](const auto& at, const auto& files) {
        return at == files.end() ? std::string("no more files") : foreign_text(*at);
      };
      refuse("ranks", fmt::format("the files of rank 0 on every rank ({})", named(expected, first)),
             fmt::format("{} on rank {}", named(received, other), r),
             "copy them anew, or read them from one place");
    }
  });
}

/// Gives the columns the kinds that the ranks have found in their rows.
void agree_on_kinds(TableStream& stream, const Collective& ranks) {
  nlohmann::json own = nlohmann::json::object();
  for (const auto& [name, kind] : stream.kinds()) own[name] = kind_name(kind);
  std::string text;
  nlohmann::json::to_cbor(own, text);
  const std::vector<std::string> all = gather_texts(ranks, text);
  together(&ranks, [&] {
    std::map<std::string, ColumnKind, std::less<>> kinds;
    for (size_t r = 0; r < all.size(); ++r) {
      const nlohmann::json of_rank = nlohmann::json::from_cbor(all[r]);
      for (const auto& [name, word] : of_rank.items()) {
        const auto [found, fresh] = kinds.try_emplace(name, kind_named(word.get<std::string>()));
        if (!fresh && kind_name(found->second) != word.get<std::string>())
          throw DataError(stream.source(),
                          fmt::format("expected {} cells in column {}, as in the files of the ranks before; "
                                      "received {} ones on rank {}; write the files alike, name the column "
                                      "in `.categorical`, or leave it out (`.ignore`)",
                                      kind_name(found->second), in_quotes(name), word.get<std::string>(), r));
      }
    }
    stream.know(kinds);
  });
}

/// A first pass in which each rank reads a share of the rows. Returns the table that one process would have;
/// `in_parts` tells whether the files could be shared.
StreamedTable table_of_ranks(TableStream& stream, const StreamOptions& options, const Collective& ranks,
                             const StreamedRows::Progress& progress, bool& in_parts) {
  check_same_files(stream, ranks);
  std::optional<StreamPass> all, own;
  together(&ranks, [&] {
    const std::optional<Table> first = stream.next();
    check(first.has_value(), "fit", "rows in the files", "none", "check how the files were written");
    all.emplace(stream.source(), options, *first);
    in_parts = stream.read_share(ranks.rank(), ranks.size());
    StreamOptions of_share = options;  // the rows that all ranks keep meet on each of them
    if (in_parts) of_share.most_bytes /= static_cast<uint64_t>(ranks.size());
    own.emplace(stream.source(), of_share, *first);
    while (std::optional<Table> piece = stream.next()) {
      own->add(std::move(*piece));
      if (progress) progress(stream.share());
    }
  });
  std::vector<std::string> texts;
  if (in_parts) {
    agree_on_kinds(stream, ranks);
    texts = gather_texts(ranks, own->text());
    own = std::move(all);
  }
  std::optional<StreamedTable> table;
  together(&ranks, [&] {
    for (std::string& text : texts) own->join(std::exchange(text, {}));
    table = std::move(*own).result();
    if (!in_parts)
      table->split.notes.push_back(fmt::format(
          "{} processes cannot share the reading of so few files: each of them reads and keeps all rows; "
          "write several row groups of Parquet",
          ranks.size()));
  });
  return *std::move(table);
}

}  // namespace

void check_streams(const ResolvedFit& request) {
  if (streams(*request.method, *request.inner)) return;
  const StreamedTable& table = request.streamed->table();
  const int64_t rows = table.split.streamed,
                room = rows_in_memory(*request.method, request.options, rows, std::ssize(table.rows.columns));
  refuse_method(*request.method, fmt::format("all {} training rows", rows), room < rows ? room : 0);
}

std::shared_ptr<const StreamedRows> stream_training(const StreamedFiles& given, FitOptions& o,
                                                    const StreamedRows::Progress& progress) {
  std::optional<TableStream> stream;
  std::optional<StreamOptions> options;
  together(given.ranks, [&] {
    options = options_of_stream(given, o);
    stream.emplace(given.files, given.source, training_reading(o), given.limits);
    check_streams_early(o, *stream);
  });
  bool in_parts = false;
  StreamedTable table = given.ranks != nullptr
                            ? table_of_ranks(*stream, *options, *given.ranks, progress, in_parts)
                            : streamed_table(*stream, *options, progress);
  auto rows = std::make_shared<const StreamedRows>(std::move(*stream), std::move(table), o.target,
                                                   given.cache, in_parts);
  together(given.ranks, [&] { name_columns(o, rows->table().rows); });
  return rows;
}

}  // namespace slimbayes
