#include "slimbayes/data/table/table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/cifar.h"
#include "slimbayes/data/table/csv.h"
#include "slimbayes/data/table/kept.h"
#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {

namespace {

/// Returns the file name's extension in lower case without the leading dot, such as "csv"; for a gzip file
/// with the extension before it, such as "csv.gz". Returns "" if the name has no extension.
std::string ending(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  std::string text = name.extension().string();
  if (text == ".gz" || text == ".GZ") text = name.stem().extension().string() + text;
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text.empty() ? text : text.substr(1);
}

[[noreturn]] void throw_ending(const std::filesystem::path& path, std::string_view accepted,
                               const std::string& received, std::string_view hint) {
  throw DataError(path.string(),
                  fmt::format("expected a file name that ends in {}; received '{}'{}; {}", accepted,
                              foreign_text(path.filename().string()), received, hint));
}

/// Returns which CIFAR records the file holds, for the hint of an error message. Returns nullopt if it holds
/// none, is larger than 1 GB, or cannot be unpacked within `limits`.
std::optional<CifarRecords> images_in(const std::filesystem::path& path, const TableLimits& limits) {
  constexpr uint64_t kGzipRatio = 1000;             // most unpacked bytes per byte; black images need it
  constexpr uint64_t kLargest = uint64_t{1} << 30;  // most bytes of a file that is read only for a hint
  std::error_code unknown;
  const uint64_t size = std::filesystem::file_size(path, unknown);
  const bool packed = ending(path).ends_with("gz");
  const bool whole = packed || size % 3073 == 0 || size % 3074 == 0;  // 3073, 3074: bytes of a CIFAR record
  if (!unknown && (size > kLargest || !whole)) return std::nullopt;
  const std::vector<std::byte> bytes = read_bytes(path);
  if (!packed) return cifar_records({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  try {
    return cifar_records(gunzip(bytes, path.string(), TableBound::of(limits, bytes.size(), kGzipRatio)));
  } catch (const DataError&) {
  } catch (const OutOfMemory&) {
  }
  return std::nullopt;
}

/// Throws DataError for a file whose name does not end as that of a table. If the file holds CIFAR images,
/// the message says how to read them.
[[noreturn]] void throw_no_table(const std::filesystem::path& path, const TableLimits& limits) {
  const std::string accepted = fmt::format(
      "{} or {}", fmt::join(kTableEndings.begin(), kTableEndings.end() - 1, ", "), kTableEndings.back());
  if (const auto images = images_in(path, limits))
    throw_ending(path, accepted,
                 fmt::format(", whose size and labels are those of {} records of {}", images->count,
                             images->format == "cifar10" ? "CIFAR-10" : "CIFAR-100"),
                 fmt::format("fit reads them with `.format={}`", images->format));
  throw_ending(path, accepted, "",
               "rename or convert it (fit reads images in the layout of CIFAR with `.format=cifar10` or "
               "cifar100)");
}

constexpr std::string_view kWritable = ".csv, .tsv, .parquet or .feather";

}  // namespace

Table read_table(const std::filesystem::path& path, const Reading& reading, const TableLimits& limits) {
  constexpr uint64_t kTextRatio = 100, kTypedRatio = 1000;
  std::string format = ending(path), source = path.string();
  bool zipped = format.ends_with(".gz");
  std::string inner = zipped ? format.substr(0, format.size() - 3) : format;
  bool text = inner == "csv" || inner == "tsv";
  bool feather = format == "feather" || format == "arrow" || format == "ipc";
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return read_tables({path}, source, reading, limits);
  if (!is_table_name(path)) {
    // If there is no such file, the path is probably wrong rather than the ending. read_bytes throws for it.
    if (!std::filesystem::is_regular_file(path, unknown)) read_bytes(path);
    throw_no_table(path, limits);
  }
  const uint64_t size = std::filesystem::file_size(path, unknown);
  const uint64_t ratio = !text ? kTypedRatio : zipped ? kTextRatio : 0;
  const TableFile file{source, reading, TableBound::of(limits, unknown ? 0 : size, ratio)};
  file.bound.check(file.bound.file, source);
  std::vector<std::byte> bytes = read_bytes(path);
  if (feather) return parse_feather(bytes, file);
  if (!text) return parse_parquet(bytes, file);
  char delimiter = inner == "tsv" ? '\t' : separator_of_csv(reading.notation);
  if (!zipped) return parse_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, delimiter, file);
  const std::string unpacked = gunzip(bytes, source, file.bound);
  bytes = {};
  return parse_csv(unpacked, delimiter, file);
}

Table take_rows(const Table& table, const std::vector<int64_t>& rows) {
  for (int64_t row : rows) {
    if (row >= 0 && row < table.rows) continue;
    throw std::invalid_argument(
        fmt::format("[take_rows] expected row indices from 0 to {}; received {}; indices belong to one table",
                    table.rows - 1, row));
  }
  Table out{table.source, table.columns, static_cast<int64_t>(rows.size()), {}, table.parts};
  for (int64_t row : rows)
    out.numbers.push_back(table.numbers.empty() ? row : table.numbers[static_cast<size_t>(row)]);
  for (size_t c = 0; c < out.columns.size(); ++c) {
    const std::vector<double>& from = table.columns[c].values;
    std::vector<double> values(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) values[i] = from[static_cast<size_t>(rows[i])];
    out.columns[c].values = std::move(values);
    if (out.columns[c].kept) out.columns[c].kept = taken_cells(out.columns[c].kept, rows);
  }
  return out;
}

void write_table(const std::filesystem::path& path, const Table& table) {
  std::string format = ending(path), content;
  if (format == "csv")
    content = format_csv(table, ',');
  else if (format == "tsv")
    content = format_csv(table, '\t');
  else if (format == "parquet")
    content = format_parquet(table, path.string());
  else if (format == "feather")
    content = format_feather(table, path.string());
  else
    throw_ending(path, kWritable, "", "rename it");
  write_atomically(path, std::as_bytes(std::span(content)));
}

}  // namespace slimbayes
