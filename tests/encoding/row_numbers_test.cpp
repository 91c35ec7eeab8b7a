#include "slimbayes/encoding/row_numbers.h"

#include <numeric>

#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Returns 1, 2, ..., 100.
std::vector<double> counter() {
  std::vector<double> x(100);
  std::iota(x.begin(), x.end(), 1);
  return x;
}

TEST(numbers_rows, ByNameAndNumbers) {
  for (const char* name : {"id", "order_no", "RowNumber", "case id", "INDEX", "batch_nr"})
    EXPECT_TRUE(numbers_rows(numbers(name, counter()))) << name;
  for (const char* name : {"day", "width", "week_no", "atomic_number", "time_index", "num_items", "No", ""})
    EXPECT_FALSE(numbers_rows(numbers(name, counter()))) << name;
  EXPECT_FALSE(numbers_rows(numbers("id", {30, 7, 110, 1, 45, 22, 95, 81, 60, 50})));
}

TEST(numbering_columns, LeaveAnInput) {
  std::vector<double> x = counter();
  std::swap(x[3], x[70]);
  x[5] = 0.5;
  const std::vector<double> same(100, 2);
  const auto found = [](std::vector<Column> columns) {
    return numbering_columns(table_of(std::move(columns)), {"y"});
  };
  const std::vector<std::string> id = {"id"};
  EXPECT_EQ(found({numbers("id", counter()), numbers("x", x), numbers("y", x)}), id);
  for (const Column& alone :
       {numbers("y", x), numbers("k", same), numbers("Unnamed: 0", counter()), numbers("row_id", counter())})
    EXPECT_TRUE(found({numbers("id", counter()), alone}).empty()) << alone.name;
}

}  // namespace
}  // namespace slimbayes
