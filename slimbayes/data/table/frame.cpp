// Tables that a program has in memory. Arrow's C stream hands over buffers without a copy; the conversion to
// the doubles of a Table is the only one.
#include "slimbayes/data/table/frame.h"

#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "slimbayes/data/table/arrow.h"
#include "slimbayes/data/table/cells.h"
#include "slimbayes/data/table/column_names.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/printable.h"

namespace slimbayes {
namespace {

/// The memory pool of Arrow tables that another program allocated: nothing is taken from it.
std::shared_ptr<arrow::MemoryPool> foreign_memory() {
  return {arrow::default_memory_pool(), [](arrow::MemoryPool*) {}};
}

/// Returns a column of numbers as `reading` wants it, as from_arrow() does with a typed column.
Column as_asked(Column column, const Reading& reading, const std::string& source) {
  check_finite(column, is_needed(reading, column.name), source);
  const bool names = std::ranges::find(reading.names, column.name) != reading.names.end();
  return without_marks(names ? as_categorical(column) : std::move(column), reading.missing);
}

/// Adds columns to the table. Throws DataError unless they have as many rows as those before.
void append(Table& table, std::vector<Column> columns, int64_t rows) {
  if (!table.columns.empty() && rows != table.rows)
    throw DataError(table.source,
                    fmt::format("expected {} rows in every column; received {} rows in {}; give "
                                "inputs and target of the same examples",
                                table.rows, rows, columns.empty() ? "a part" : columns.front().name));
  table.rows = rows;
  std::ranges::move(columns, std::back_inserter(table.columns));
}

}  // namespace

void add_stream(Frame& frame, ArrowArrayStream& stream) {
  auto reader = arrow::ImportRecordBatchReader(&stream);
  auto table = reader.ok() ? (*reader)->ToTable() : reader.status();
  if (!table.ok())
    throw DataError(frame.source,
                    fmt::format("expected a table as an Arrow stream; received one that Arrow refuses: "
                                "{}; check the frame's columns",
                                foreign_text(table.status().message())));
  frame.tables.push_back(*std::move(table));
}

Table read_frame(Frame frame, const Reading& reading) {
  Table table{frame.source, {}, 0};
  for (std::shared_ptr<arrow::Table>& part : frame.tables) {
    if (part->num_columns() == 0) continue;
    Table read = from_arrow(std::move(part), {frame.source, reading}, foreign_memory());
    append(table, std::move(read.columns), read.rows);
  }
  for (Column& column : frame.columns) {
    const auto rows = std::ssize(column.values);
    append(table, {as_asked(std::move(column), reading, frame.source)}, rows);
  }
  if (table.rows == 0)
    throw DataError(frame.source,
                    "expected a table with rows and columns; received none; check how it was made");
  check_names(table.names(), frame.source);
  return table;
}

void write_stream(const Table& table, ArrowArrayStream& stream) {
  const auto reader = std::make_shared<arrow::TableBatchReader>(to_arrow(table, /*dictionaries=*/true));
  if (const auto status = arrow::ExportRecordBatchReader(reader, &stream); !status.ok())
    throw std::runtime_error(foreign_text(status.message()));
}

}  // namespace slimbayes
