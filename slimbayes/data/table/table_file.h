#pragma once

#include <string>

#include "slimbayes/data/table/limits.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// A file whose content is about to become a table: what the parsers of all formats need to know beside its
/// bytes.
struct TableFile {
  std::string source;                        // path, for messages
  Reading reading = {};                      // what is known of its columns
  TableBound bound = TableBound::of({}, 0);  // memory for the whole file, its text included
};

}  // namespace slimbayes
