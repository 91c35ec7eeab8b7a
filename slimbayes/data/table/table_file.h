#pragma once

#include <string>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// What the parsers of all table formats need in addition to the bytes of a file.
struct TableFile {
  std::string source;                        // path, for messages
  Reading reading = {};                      // how to read its columns
  TableBound bound = TableBound::of({}, 0);  // limit on memory, the file's bytes included
  // Of the file between the header and the rows that are given, for messages.
  int64_t skipped = 0;      // lines
  int64_t rows_before = 0;  // rows
};

}  // namespace slimbayes
