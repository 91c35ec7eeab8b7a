#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"

struct ArrowArrayStream;

namespace arrow {
class Table;
}

namespace slimbayes {

/// Columns that a program has in memory instead of in a file: typed Arrow tables, columns of plain numbers,
/// or both. Their kinds are decided when the frame is read, because they depend on the Reading.
struct Frame {
  std::string source;                                      // name for messages, such as "the frame"
  std::vector<std::shared_ptr<arrow::Table>> tables = {};  // columns with an Arrow type
  std::vector<Column> columns = {};                        // numeric or boolean columns; NaN: a missing cell
};

/// Adds the columns of an Arrow C stream (the Arrow PyCapsule interface hands one over) to the frame, without
/// a copy. Takes the stream over and releases it. Throws DataError if the stream fails or is no table.
void add_stream(Frame& frame, ArrowArrayStream& stream);

/// Returns the table of a frame, with the kinds that `reading` gives. Arrow columns are read as those of a
/// Feather file, and columns of numbers in the same way. Each column is converted once. Throws DataError as
/// read_table, and for parts with different numbers of rows.
Table read_frame(Frame frame, const Reading& reading = {});

/// A table as an Arrow C stream, to hand it over to another program. The caller releases the stream.
void write_stream(const Table& table, ArrowArrayStream& stream);

}  // namespace slimbayes
