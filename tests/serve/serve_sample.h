#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// A table of `n` rows with a column of each kind, missing cells in three of them, a constant column, a
/// column of categories of which `unseen` is in no row of the seed 1, and a positive target y.
inline Table served_table(int64_t n, uint64_t seed) {
  const Stream stream(seed);
  Column a{"a", ColumnKind::numeric, {}, {}}, on{"on", ColumnKind::boolean, {}, {}},
      colour{"colour", ColumnKind::categorical, {}, {"red", "green", "blue", "unseen"}},
      when{"when", ColumnKind::datetime, {}, {}}, same{"same", ColumnKind::numeric, {}, {}},
      b{"b", ColumnKind::numeric, {}, {}}, y{"y", ColumnKind::numeric, {}, {}};
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(i);
    const double u = stream.split("a").uniform(at), v = stream.split("b").uniform(at);
    const auto level = static_cast<int64_t>(stream.split("c").uniform(at) * (seed == 1 ? 3 : 4));
    const bool yes = stream.split("on").uniform(at) < 0.4;
    a.values.push_back(i % 11 == 5 ? kMissing : 10 + 3 * u);
    on.values.push_back(i % 13 == 6 ? kMissing : yes ? 1 : 0);
    colour.values.push_back(i % 7 == 2 ? kMissing : static_cast<double>(level));
    when.values.push_back(86400.0 * static_cast<double>(19000 + i));
    same.values.push_back(4);
    b.values.push_back(2e6 * v);
    const double t = std::sin(5 * u) + v + 0.3 * static_cast<double>(level) + (yes ? 0.4 : 0);
    y.values.push_back(std::exp(t + 0.1 * stream.split("e").normal(at)));
  }
  Table table{"served", {}, n};
  for (Column* column : {&a, &on, &colour, &when, &same, &b, &y}) table.columns.push_back(std::move(*column));
  return table;
}

}  // namespace slimbayes
