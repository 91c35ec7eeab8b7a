#pragma once

#include <string>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// What the parsers of all formats need to know about a file in addition to its bytes.
struct TableFile {
  std::string source;                        // path, for messages
  Reading reading = {};                      // what is known of its columns
  TableBound bound = TableBound::of({}, 0);  // memory for the whole file, its text included
};

}  // namespace slimbayes
