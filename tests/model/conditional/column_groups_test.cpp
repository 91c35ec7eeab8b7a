#include "slimbayes/model/conditional/column_groups.h"

#include <gtest/gtest.h>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

using Names = std::vector<std::string>;
using Places = std::vector<int64_t>;

TEST(groups_of_column, OfCategoriesAreTheirValuesByName) {
  const RowGrouping groups =
      groups_of_column(categories("c", {0, 1, kMissing, 0}, {"red", "blue", "unused"}));
  EXPECT_EQ(groups.names, (Names{"blue", "red", "(missing)"}));
  EXPECT_EQ(groups.of, (Places{1, 0, 2, 1}));
}

TEST(groups_of_column, OfUpToTwentyNumbersAreTheNumbers) {
  const RowGrouping groups = groups_of_column(numbers("x", {10, 9, 0.5, 9}));
  EXPECT_EQ(groups.names, (Names{"0.5", "9", "10"}));
  EXPECT_EQ(groups.of, (Places{2, 1, 0, 1}));
}

TEST(groups_of_column, OfMoreNumbersAreFiveBins) {
  std::vector<double> cells = {kMissing};
  for (int i = 0; i < 25; ++i) cells.push_back(i);
  const RowGrouping groups = groups_of_column(numbers("x", cells));
  EXPECT_EQ(groups.names, (Names{"[0, 5)", "[5, 10)", "[10, 15)", "[15, 20)", "[20, 24]", "(missing)"}));
  EXPECT_EQ(groups.of.front(), 5);
  EXPECT_EQ(groups.of.at(5), 0);
  EXPECT_EQ(groups.of.at(6), 1);
  EXPECT_EQ(groups.of.back(), 4);
}

TEST(groups_of_column, NameEndsThatDifferByTheirLastDigits) {
  std::vector<double> cells;
  for (int i = 0; i < 25; ++i) cells.push_back(1e9 + i);
  EXPECT_EQ(groups_of_column(numbers("x", cells)).names.front(), "[1000000000, 1000000005)");
}

}  // namespace
}  // namespace slimbayes
