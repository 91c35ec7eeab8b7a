#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "slimbayes/data/table/table.h"
#include "tests/fuzz/subjects.h"
#include "tests/fuzz/trial.h"
#include "tests/storage/mutation.h"
#include "tests/storage/sample.h"

namespace slimbayes::trial {

/// Reads a table with this file ending and mutated bytes. It must be rectangular, with finite numbers and
/// valid category codes.
inline bool try_table(const Folder& folder, const std::string& ending, std::mt19937_64& random) {
  const auto path = folder / ("t." + ending);
  write_table(path, small_table());
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Bytes bytes = raw(text);
  for (size_t i = 0, n = 1 + below(random, 4); i < n; ++i) mutate(bytes, random);
  write(path, bytes);
  return answers([&] {
    const Table table = read_table(path);
    for (const Column& column : table.columns) {
      if (static_cast<int64_t>(column.values.size()) != table.rows) throw NotFinite("a ragged table");
      for (const double x : column.values) {
        const bool level = column.kind != ColumnKind::categorical || std::isnan(x) ||
                           (x >= 0 && x < static_cast<double>(column.levels.size()));
        if (std::isinf(x) || !level) throw NotFinite("a cell of " + column.name);
      }
    }
  });
}

}  // namespace slimbayes::trial
