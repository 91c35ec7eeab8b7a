#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/split/split.h"
#include "tests/data/tables.h"

namespace slimbayes {

inline Table distinct(int n) {
  std::vector<double> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), 0);
  return table_of({numbers("x", x), numbers("y", std::vector<double>(x.size(), 1))});
}

inline SplitOptions options(double valid, double test, std::string kind = "grouped") {
  return {valid, test, kind, {"y"}};
}

inline void expect_partition(const SplitRows& rows, int64_t n) {
  std::set<int64_t> seen;
  for (const auto* part : {&rows.train, &rows.valid, &rows.test}) {
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
    seen.insert(part->begin(), part->end());
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
  EXPECT_EQ(static_cast<int64_t>(rows.train.size() + rows.valid.size() + rows.test.size()), n);
}

}  // namespace slimbayes
