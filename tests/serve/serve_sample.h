#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// A table of `n` rows with columns of each kind: numbers with missing cells, booleans, colours (of which
/// `unseen` is in no row of the seed 1), dates, a constant, 0 and 1, 80 codes (more than have a feature of
/// their own), yes and no as categories, and a constant that is missing in some rows. The target y is
/// positive; z is not; grade has three classes and pass two; events are counts. With `repeats` every three
/// rows have the same inputs.
inline Table served_table(int64_t n, uint64_t seed, bool repeats = false) {
  const Stream stream(seed);
  Column a{"a", ColumnKind::numeric, {}, {}}, on{"on", ColumnKind::boolean, {}, {}},
      colour{"colour", ColumnKind::categorical, {}, {"red", "green", "blue", "unseen"}},
      when{"when", ColumnKind::datetime, {}, {}}, same{"same", ColumnKind::numeric, {}, {}},
      b{"b", ColumnKind::numeric, {}, {}}, bit{"bit", ColumnKind::numeric, {}, {}},
      code{"code", ColumnKind::categorical, {}, {}},
      smoker{"smoker", ColumnKind::categorical, {}, {"yes", "no"}}, gap{"gap", ColumnKind::numeric, {}, {}},
      y{"y", ColumnKind::numeric, {}, {}}, z{"z", ColumnKind::numeric, {}, {}},
      grade{"grade", ColumnKind::categorical, {}, {"low", "middle", "high"}},
      pass{"pass", ColumnKind::boolean, {}, {}}, events{"events", ColumnKind::numeric, {}, {}};
  for (int i = 0; i < 80; ++i) code.levels.push_back("code " + std::to_string(i));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = repeats ? i / 3 : i;
    const auto at = static_cast<uint64_t>(row);
    const double u = stream.split("a").uniform(at), v = stream.split("b").uniform(at);
    const auto level = static_cast<int64_t>(stream.split("c").uniform(at) * (seed == 1 ? 3 : 4));
    const bool yes = stream.split("on").uniform(at) < 0.4;
    a.values.push_back(row % 11 == 5 ? kMissing : 10 + 3 * u);
    on.values.push_back(row % 13 == 6 ? kMissing : yes ? 1 : 0);
    colour.values.push_back(row % 7 == 2 ? kMissing : static_cast<double>(level));
    when.values.push_back(86400.0 * static_cast<double>(19000 + row));
    same.values.push_back(4);
    b.values.push_back(2e6 * v);
    bit.values.push_back(stream.split("bit").uniform(at) < 0.5 ? 1 : 0);
    code.values.push_back(std::floor(80 * std::pow(stream.split("code").uniform(at), 2)));
    smoker.values.push_back(stream.split("smoker").uniform(at) < 0.5 ? 1 : 0);
    gap.values.push_back(row % 5 == 1 ? kMissing : 7);
    const double t = std::sin(5 * u) + v + 0.3 * static_cast<double>(level) + (yes ? 0.4 : 0);
    y.values.push_back(std::exp(t + 0.1 * stream.split("e").normal(static_cast<uint64_t>(i))));
    z.values.push_back(y.values.back() - 3);
    const double noisy = t + 0.5 * stream.split("grade").normal(static_cast<uint64_t>(i));
    grade.values.push_back(noisy < 0.7 ? 0 : noisy < 1.6 ? 1 : 2);
    pass.values.push_back(noisy > 1.1 ? 1 : 0);
    events.values.push_back(
        std::floor(std::exp(t) * 2 * stream.split("events").uniform(static_cast<uint64_t>(i))));
  }
  Table table{"served", {}, n};
  for (Column* column :
       {&a, &on, &colour, &when, &same, &b, &bit, &code, &smoker, &gap, &y, &z, &grade, &pass, &events})
    table.columns.push_back(std::move(*column));
  return table;
}

}  // namespace slimbayes
