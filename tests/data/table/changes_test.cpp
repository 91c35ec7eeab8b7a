#include "slimbayes/data/table/changes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/table/files.h"

namespace slimbayes {
namespace {

using Pairs = std::map<std::string, std::string>;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

Table two_columns() {
  return {"t.csv", {{"a", ColumnKind::numeric, {1, 2}, {}}, {"b", ColumnKind::numeric, {3, 4}, {}}}, 2};
}

TEST(column_changes, takes_pairs_and_names_with_commas) {
  const ColumnChanges changes = column_changes({"a=x, b =y", "c, d=z"}, {"city=Paris, France,size=3", "n="});
  EXPECT_EQ(changes.renamed, (Pairs{{"a", "x"}, {"b", "y"}, {"c, d", "z"}}));
  EXPECT_EQ(changes.filled, (Pairs{{"city", "Paris, France"}, {"size", "3"}, {"n", ""}}));
  EXPECT_TRUE(column_changes({}, {}).empty());
}

TEST(column_changes, refuses_what_is_no_pair_or_given_twice) {
  expect_has(refusal([] { column_changes({"a"}, {}); }), "expected pairs FILE=MODEL");
  expect_has(refusal([] { column_changes({"=a"}, {}); }), "received '=a'");
  expect_has(refusal([] { column_changes({"a="}, {}); }), "received none for 'a'");
  expect_has(refusal([] { column_changes({}, {"x"}); }), "pairs COLUMN=CELL for `.fill`; received 'x'");
  expect_has(refusal([] { column_changes({"a=x,a=y"}, {}); }), "each column once in `.rename`; received 'a'");
  expect_has(refusal([] { column_changes({"a=x,b=x"}, {}); }), "received 'x' twice");
  expect_has(refusal([] {
               column_changes({}, {"x=1", "x=2"});
             }),
             "each column once in `.fill`; received 'x'");
  expect_has(refusal([] { column_changes({"a=x"}, {"x=1"}); }), "received 'x' in both");
}

TEST(column_changes, give_columns_of_the_model_alone) {
  const std::vector<std::string> known = {"size", "rooms"};
  EXPECT_NO_THROW(check_columns_of_model(column_changes({"a=size"}, {"rooms=1"}), known));
  expect_has(refusal([&] { check_columns_of_model(column_changes({"a=siz"}, {}), known); }),
             "a column of the model after the '=' of `.rename`; received 'siz'; did you mean 'size'?");
  expect_has(refusal([&] { check_columns_of_model(column_changes({}, {"room=1"}), known); }),
             "a column of the model in `.fill`; received 'room'; did you mean 'rooms'?");
}

TEST(where_absent, leaves_a_table_that_has_the_new_names_alone) {
  const ColumnChanges swap = column_changes({"a=b,b=a"}, {"c=1"});
  EXPECT_TRUE(where_absent(two_columns(), swap).renamed.empty());
  EXPECT_EQ(where_absent(two_columns(), swap).filled, swap.filled);
  EXPECT_EQ(where_absent(two_columns(), column_changes({"a=x,b=a"}, {})).renamed, (Pairs{{"a", "x"}}));
}

TEST(before_changes, reads_a_column_as_the_one_that_it_becomes) {
  Reading reading{{{"x", ColumnKind::numeric}, {"y", ColumnKind::boolean}}, {"name"}, {}, false};
  reading.kept = {"x", "id"};
  const Reading out = before_changes(reading, column_changes({"a=x,y=name,name=y"}, {}));
  EXPECT_EQ(out.kinds.at("a"), ColumnKind::numeric);
  EXPECT_EQ(out.kinds.at("x"), ColumnKind::numeric);  // of a file that needs no change
  EXPECT_EQ(out.kinds.at("name"), ColumnKind::boolean);
  EXPECT_FALSE(out.kinds.contains("y"));
  EXPECT_EQ(out.names, (std::vector<std::string>{"y"}));
  EXPECT_EQ(out.kept, (std::vector<std::string>{"x", "id", "a"}));
}

TEST(with_changes, renames_at_once_and_fills_by_kind) {
  const Reading reading{
      {{"x", ColumnKind::numeric}, {"yes", ColumnKind::boolean}, {"day", ColumnKind::datetime}}, {"name"}};
  const Table swapped = with_changes(two_columns(), column_changes({"a=b,b=a"}, {}), reading);
  EXPECT_EQ(swapped.find("b")->values, (std::vector<double>{1, 2}));
  EXPECT_EQ(swapped.find("a")->values, (std::vector<double>{3, 4}));

  const ColumnChanges fills =
      column_changes({}, {"x=2.5,yes=yes,day=1970-01-02,name=7,free=red,none=NA,a=9"});
  const Table filled = with_changes(two_columns(), fills, reading);
  EXPECT_EQ(filled.find("x")->values, (std::vector<double>{2.5, 2.5}));
  EXPECT_EQ(filled.find("yes")->values, (std::vector<double>{1, 1}));
  EXPECT_EQ(filled.find("day")->values, (std::vector<double>{86400, 86400}));
  EXPECT_EQ(filled.find("name")->levels, (std::vector<std::string>{"7"}));
  EXPECT_EQ(filled.find("free")->levels, (std::vector<std::string>{"red"}));
  EXPECT_EQ(filled.find("free")->values, (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(filled.find("none")->values[1]));
  EXPECT_EQ(filled.find("a")->values, (std::vector<double>{1, 2}));  // the file's own
  for (const Column& column : filled.columns) EXPECT_EQ(column.values.size(), 2u) << column.name;
  // A column that is renamed away may be filled.
  const Table moved = with_changes(two_columns(), column_changes({"a=x"}, {"a=5"}), reading);
  EXPECT_EQ(moved.find("a")->values, (std::vector<double>{5, 5}));
}

TEST(with_changes, refuses_a_name_in_use_and_a_cell_of_another_kind) {
  expect_has(refusal([] { with_changes(two_columns(), column_changes({"a=b"}, {}), {}); }),
             "no column 'b' in 't.csv' for `.rename` a=b; received one beside 'a'");
  const Reading reading{{{"x", ColumnKind::numeric}}};
  expect_has(refusal([&] { with_changes(two_columns(), column_changes({}, {"x=red"}), reading); }),
             "a numeric cell for 'x' in `.fill`, as in training; received 'red'");
  expect_has(refusal([&] { with_changes(two_columns(), column_changes({}, {"x=inf"}), reading); }), "'inf'");
}

TEST(check_needed, names_what_no_file_needs) {
  const Table t = two_columns();
  const ColumnChanges changes = column_changes({"a=x,aa=z"}, {"b=1,c=2"});
  const ColumnChanges rest = unneeded(t, changes);
  EXPECT_EQ(rest.renamed, (Pairs{{"aa", "z"}}));
  EXPECT_EQ(rest.filled, (Pairs{{"b", "1"}}));
  expect_has(refusal([&] { check_needed(rest, t, false); }),
             "a column of 't.csv' before the '=' of `.rename`; received 'aa'; ");
  expect_has(refusal([&] { check_needed(rest, t, true); }),
             "a file with a column 'aa' and none 'z' for `.rename` aa=z");
  expect_has(refusal([&] {
               check_needed({{}, rest.filled}, t, false);
             }),
             "a column in `.fill` that 't.csv' lacks; received 'b', which it has; leave it out");
  expect_has(refusal([&] {
               check_needed({{}, rest.filled}, t, true);
             }),
             "one of the files lacks; received 'b', which both have");
  EXPECT_NO_THROW(check_needed({}, t, false));
  EXPECT_EQ(common(rest, changes).renamed, rest.renamed);
  EXPECT_TRUE(common(rest, {}).empty());
}

}  // namespace
}  // namespace slimbayes
