#include "slimbayes/encoding/target_cells.h"

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// A table with times, numbers, cities that repeat, and identifiers that do not.
Table orders() {
  std::vector<double> hours, counts, cities, ids;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    hours.push_back(3600 * i);
    counts.push_back(i % 7);
    cities.push_back(i % 2);
    ids.push_back(i);
    names.push_back("A" + std::to_string(100 + i));
  }
  Table table = table_of({numbers("time", hours), numbers("orders", counts),
                          categories("city", cities, {"Oslo", "Rome"}), categories("id", ids, names)});
  table.columns[0].kind = ColumnKind::datetime;
  return table;
}

std::string error_for(const std::string& target) {
  return error_of([&] { check_target_column(orders(), target); });
}

TEST(check_target_column, takes_numbers_and_names_that_repeat) {
  EXPECT_NO_THROW(check_target_column(orders(), "orders"));
  EXPECT_NO_THROW(check_target_column(orders(), "city"));
}

TEST(check_target_column, names_the_columns_that_can_be_one) {
  const std::string here = "`.target` names the column to predict, here 'orders', 'city'";
  expect_has(error_for(""), "expected `.target=COLUMN`, the column to predict; received none; " + here);
  expect_has(error_for("order"), "did you mean 'orders'?");
  expect_has(error_for("time"), "in the target 'time'; received a column of times; times can be inputs");
  expect_has(error_for("time"), here);
  expect_has(error_for("id"),
             "received 20 different texts, 20 of them once, as of an identifier or free text");
  expect_has(error_for("id"), here);
  const Table ids = table_of({orders().columns[3]});
  expect_has(error_of([&] { check_target_column(ids, "id"); }), "no other column of the table can be one");
}

TEST(check_target_column, leaves_few_names_to_the_check_of_the_classes) {
  const Table few = table_of({categories("y", {0, 1, 2}, {"a", "b", "c"})});
  EXPECT_NO_THROW(check_target_column(few, "y"));
}

}  // namespace
}  // namespace slimbayes
