#include "slimbayes/fit/kept_classes.h"

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Returns a table of 8 rows in which rows 6 and 7 alone have class 'rare'.
Table classes() {
  return table_of({numbers("x", {0, 1, 2, 3, 4, 5, 6, 7}),
                   categories("y", {0, 0, 0, 1, 1, 1, 2, 2}, {"a", "b", "rare"})});
}

FitOptions of_y() {
  FitOptions fit;
  fit.target = "y";
  return fit;
}

SplitRows split_of(std::vector<int64_t> train, std::vector<int64_t> valid, std::vector<int64_t> test = {}) {
  return {std::move(train), std::move(valid), std::move(test)};
}

TEST(keep_classes_in_training, moves_one_row_of_a_class_that_was_held_out) {
  SplitRows split = split_of({1, 2, 4, 5}, {0, 6, 7}, {3});
  expect_has(keep_classes_in_training(classes(), of_y(), split), "all rows of class 'rare' (2 rows in all)");
  EXPECT_EQ(split.train, (std::vector<int64_t>{1, 2, 4, 5, 6}));
  EXPECT_EQ(split.valid, (std::vector<int64_t>{0, 7}));
  EXPECT_EQ(split.test, std::vector<int64_t>{3});
}

TEST(keep_classes_in_training, moves_rows_with_identical_inputs_together) {
  Table table = classes();
  table.columns[0].values = {0, 1, 2, 3, 4, 5, 6, 6};
  SplitRows split = split_of({1, 2, 4, 5}, {0, 6, 7}, {3});
  keep_classes_in_training(table, of_y(), split);
  EXPECT_EQ(split.train, (std::vector<int64_t>{1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(split.valid, std::vector<int64_t>{0});
}

TEST(keep_classes_in_training, leaves_a_part_that_would_be_empty_and_takes_the_next) {
  SplitRows split = split_of({0, 1, 2, 3}, {6}, {4, 5, 7});
  EXPECT_NE(keep_classes_in_training(classes(), of_y(), split), "");
  EXPECT_EQ(split.valid, std::vector<int64_t>{6});
  EXPECT_EQ(split.test, (std::vector<int64_t>{4, 5}));
}

// Two classes are held out, and row 4 of the group of the first has no class. A count under the key NaN would
// hide that the second class is still to be moved.
TEST(keep_classes_in_training, counts_no_class_for_a_row_without_one) {
  const Table table =
      table_of({numbers("x", {0, 1, 2, 3, 4, 4, 5, 6, 7}),
                categories("y", {kNone, kNone, kNone, kNone, kNone, 0, 0, 1, 1}, {"rare", "scarce"})});
  SplitRows split = split_of({0, 1}, {2, 4, 5, 6}, {3, 7, 8});
  const std::string note = keep_classes_in_training(table, of_y(), split);
  expect_has(note, "all rows of classes 'rare' (2 rows in all), 'scarce' (2 rows in all)");
  expect_has(note, "3 rows were moved");
  EXPECT_EQ(split.train, (std::vector<int64_t>{0, 1, 4, 5, 7}));
  EXPECT_EQ(split.valid, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(split.test, (std::vector<int64_t>{3, 8}));
}

TEST(keep_classes_in_training, changes_nothing_where_training_has_every_class_or_the_target_is_no_class) {
  const SplitRows before = split_of({0, 3, 6}, {1, 4, 7}, {2, 5});
  SplitRows split = before;
  EXPECT_EQ(keep_classes_in_training(classes(), of_y(), split), "");
  EXPECT_EQ(split.train, before.train);
  FitOptions of_x;
  of_x.target = "x";
  split = split_of({0, 1, 2}, {3, 4, 5, 6, 7});
  EXPECT_EQ(keep_classes_in_training(classes(), of_x, split), "");
  EXPECT_EQ(split.train, (std::vector<int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace slimbayes
