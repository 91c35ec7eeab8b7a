#include "slimbayes/data/split/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace slimbayes {
namespace {

TEST(DealFolds, HoldsEveryRowOnceAndKeepsGroupsTogether) {
  std::vector<int64_t> group;
  for (int64_t g = 0; g < 11; ++g) group.insert(group.end(), static_cast<size_t>(1 + g % 3), g);
  const auto n = std::ssize(group);
  const std::vector<Fold> folds = deal_folds(group, 5, 0.1, Stream(3));
  ASSERT_EQ(folds.size(), 5u);
  std::set<int64_t> held;
  for (const Fold& fold : folds) {
    held.insert(fold.held.begin(), fold.held.end());
    EXPECT_EQ(std::ssize(fold.train) + std::ssize(fold.valid) + std::ssize(fold.held), n);
    EXPECT_GE(fold.held.size(), 2u);
    EXPECT_EQ(fold.valid.size(), 2u);  // a tenth of about 17 rows, rounded up
    std::set<int64_t> seen[3];
    const std::vector<int64_t>* lists[] = {&fold.train, &fold.valid, &fold.held};
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::ranges::is_sorted(*lists[i]));
      for (int64_t row : *lists[i]) seen[i].insert(group[static_cast<size_t>(row)]);
    }
    EXPECT_EQ(seen[0].size() + seen[1].size() + seen[2].size(), 11u) << "a group is split";
  }
  EXPECT_EQ(std::ssize(held), n);
}

TEST(DealFolds, WithoutAShareNothingValidatesAndAHeavyGroupTrains) {
  std::vector<int64_t> group(10);
  std::iota(group.begin(), group.end(), 0);
  for (const Fold& fold : deal_folds(group, 5, 0, Stream(1))) {
    EXPECT_TRUE(fold.valid.empty());
    EXPECT_EQ(fold.held.size(), 2u);
  }
  EXPECT_EQ(deal_folds({0, 1, 2, 3}, 5, 0.1, Stream(1)).size(), 4u);
  for (const Fold& fold : deal_folds({0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3}, 4, 0.1, Stream(1))) {
    EXPECT_EQ(fold.valid.size(), 2u);
    EXPECT_FALSE(fold.train.empty());
  }
}

}  // namespace
}  // namespace slimbayes
