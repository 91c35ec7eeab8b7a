// What an encoder makes of another table than the one it was fitted on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

TEST(Encoder_inputs, a_cell_missing_only_at_prediction_is_imputed_and_noted) {
  Table t = table_of({numbers("x", {0, 1, 5}), numbers("y", {1, 2, 3})});
  Encoder e = fitted(t);
  Table later = table_of({numbers("x", {kNone, 1}), numbers("extra", {1, 2})});
  EXPECT_FLOAT_EQ(inputs_of(e, later)[0], (2 - 2.5) / 2.5);
  std::vector<std::string> notes = e.notes_for(later);
  EXPECT_TRUE(has_note(notes, "column 'x': 1 of 2 cells are missing, none was in training"));
  EXPECT_TRUE(has_note(notes, "column 'extra' was not there in training"));
  EXPECT_TRUE(e.notes_for(t).empty());
}

TEST(Encoder_inputs, fill_a_buffer_of_their_size) {
  const Table t = table_of({numbers("x", {0, 1, 5}), numbers("y", {1, 2, 3})});
  const Encoder e = fitted(t);
  std::vector<float> exact(3), wide(4);
  EXPECT_NO_THROW(e.inputs(t, exact));
  EXPECT_THROW(e.inputs(t, wide), std::invalid_argument);
}

TEST(Encoder_inputs, are_alike_for_targets_that_are_known_in_different_rows) {
  const Table t = table_of({numbers("x", {0, 1, 5, 9, kNone}), numbers("a", {1, 2, 4, kNone, kNone}),
                            numbers("b", {kNone, kNone, 1, 7, 3})});
  const std::vector<int64_t> all = all_rows(t), of_a = {0, 1, 2}, of_b = {2, 3, 4};
  const Encoder a = Encoder::fit(t, of_a, {.target = "a", .ignore = {"b"}}, nullptr, &all),
                b = Encoder::fit(t, of_b, {.target = "b", .ignore = {"a"}}, nullptr, &all);
  EXPECT_EQ(a.schema().features, (std::vector<std::string>{"x", "x (missing)"}));
  EXPECT_EQ(inputs_of(a, t), inputs_of(b, t));
  EXPECT_FLOAT_EQ(inputs_of(a, t)[6], 1);  // x = 9 is the end of its range
  EXPECT_NE(inputs_of(a, t), inputs_of(Encoder::fit(t, of_b, {.target = "b", .ignore = {"a"}}), t));
  EXPECT_EQ(a.schema().task.y_shift,
            Encoder::fit(t, of_a, {.target = "a", .ignore = {"b"}}).schema().task.y_shift);
}

TEST(Encoder_inputs, finds_columns_by_name) {
  Table t = table_of({numbers("a", {0, 1}), numbers("width", {5, 7}), numbers("y", {1, 2})});
  Encoder e = fitted(t);
  Table moved = table_of({numbers("z", {0, 0}), numbers("width", {5, 7}), numbers("a", {0, 1})});
  EXPECT_EQ(inputs_of(e, moved), inputs_of(e, t));
  expect_has(error_of([&] {
               inputs_of(e, table_of({numbers("a", {1}), numbers("widht", {1})}));
             }),
             "expected a column 'width' as in training; received 2 other columns; did you mean 'widht'?");
  expect_has(error_of([&] {
               inputs_of(e, table_of({numbers("width", {1}), categories("a", {0}, {"x"})}));
             }),
             "expected a numeric column 'a' as in training; received a categorical one ('x', ...)");
}

TEST(Encoder_inputs, a_short_table_may_show_another_kind) {
  Table t = table_of({categories("c", {0, 1, 2, 0}, {"maybe", "Yes", "3.0"}), numbers("x", {1, 2, 3, 4}),
                      numbers("y", {1, 2, 3, 4})});
  Encoder e = fitted(t);  // the levels in order are 3.0, Yes, maybe
  const auto levels = [&](Column c) {
    return columns_of(inputs_of(e, table_of({std::move(c), numbers("x", {1, 1})})), 4, 0, 3);
  };
  EXPECT_TRUE(equal(levels({"c", ColumnKind::boolean, {1, 0}, {}}), {0, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(equal(levels(numbers("c", {3, 4})), {1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(
      equal(inputs_of(e, table_of({numbers("c", {kNone}), {"x", ColumnKind::categorical, {kNone}, {}}})),
            {0, 0, 0, 0}));
}

TEST(Encoder_inputs, one_row_costs_microseconds) {
  std::vector<Column> columns;
  for (int c = 0; c < 26; ++c) columns.push_back(numbers(fmt::format("x{}", c), {0.0, 1.0 + c}));
  columns.push_back(numbers("y", {1, 2}));
  Table t = table_of(columns);
  Encoder e = fitted(t);
  Table row = take_rows(t, {1});
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) inputs_of(e, row);
  double micros =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 1000;
  std::printf("one row of 26 columns: %.1f us\n", micros);
  EXPECT_LT(micros, 500);
}

TEST(Encoder_reading, is_the_columns_it_uses_as_training_saw_them) {
  Table t = table_of({numbers("x", {1, 2, 3, 4}), categories("c", {0, 1, 2, 0}, {"01", "1.0", "A"}),
                      numbers("k", {1, 1, 1, 1}), numbers("y", {1, 0, 1, 0})});
  Encoder e = Encoder::from_json(fitted(t, {"y"}).to_json());
  Reading with = e.reading(true), without = e.reading(false);
  EXPECT_FALSE(with.others_used);
  EXPECT_EQ(with.kinds.size(), 3u);  // the constant column k is not used
  EXPECT_EQ(with.kinds.at("c"), ColumnKind::categorical);
  EXPECT_EQ(with.kinds.at("y"), ColumnKind::numeric);
  EXPECT_FALSE(without.kinds.contains("y"));
  // Read as numbers, the levels 01 and 1.0 would be the same.
  Table judged = table_of({numbers("x", {1}), numbers("c", {1})});
  expect_has(error_of([&] { inputs_of(e, judged); }), "text in column 'c'");
  EXPECT_NO_THROW(inputs_of(e, table_of({numbers("x", {1}), numbers("c", {kNone})})));
}

}  // namespace
}  // namespace slimbayes
