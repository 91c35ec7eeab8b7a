#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/data/fit_examples.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

FitOptions weighted_by(const std::string& column = "w") {
  FitOptions options;
  options.target = "y";
  options.weights = column;
  return options;
}

Table with_weights(const std::vector<double>& weights) {
  std::vector<double> x, y;
  for (size_t i = 0; i < weights.size(); ++i) {
    x.push_back(std::sin(static_cast<double>(i)));
    y.push_back(static_cast<double>(i));
  }
  return table_of({numbers("x", x), numbers("w", weights), numbers("y", y)});
}

std::vector<double> values(const at::Tensor& x) {
  return {x.const_data_ptr<double>(), x.const_data_ptr<double>() + x.numel()};
}

TEST(row_weights, are_those_of_the_column_as_given) {
  const Table table = with_weights({2, 0, 0.25});
  EXPECT_EQ(values(row_weights(table, weighted_by())), (std::vector<double>{2, 0, 0.25}));
  EXPECT_FALSE(row_weights(table, weighted_by("")).defined());
}

TEST(row_weights, of_a_window_are_those_of_the_row_that_it_predicts) {
  Table table = with_weights({1, 2, 3, 4, 5, 6});
  table.columns.push_back(numbers("t", {0, 1, 2, 3, 4, 5}));
  FitOptions options = weighted_by();
  options.window = 2;
  options.time = {"t"};
  const Examples windows = examples_of(table, options);
  EXPECT_EQ(values(row_weights(windows, options)), (std::vector<double>{3, 4, 5, 6}));
  // The first row has no weight, but no window predicts it.
  Table damaged = table;
  damaged.columns[1].values[0] = -1;
  EXPECT_EQ(values(row_weights(examples_of(damaged, options), options)), (std::vector<double>{3, 4, 5, 6}));
  damaged.columns[1].values[3] = -1;
  expect_has(error_of([&] { row_weights(examples_of(damaged, options), options); }), "data row 4");
}

TEST(row_weights, name_the_row_of_a_bad_weight) {
  const auto error = [](double weight) {
    const Table table = with_weights({1, 2, weight});
    EXPECT_THROW(row_weights(table, weighted_by()), DataError);
    return error_of([&] { row_weights(table, weighted_by()); });
  };
  expect_has(error(-0.5),
             "t.csv: data row 3: expected a weight, a finite number from 0 on, in the column 'w'");
  expect_has(error(-0.5), "received -0.5");
  expect_has(error(kNone), "received a missing cell");
  expect_has(error(std::numeric_limits<double>::infinity()), "received inf");
  expect_has(error(1e308),
             "data row 3: expected a weight up to 1e+100 in the column 'w'; received 1e+308; sums of larger");
  EXPECT_EQ(values(row_weights(with_weights({1, 1e100}), weighted_by())), (std::vector<double>{1, 1e100}));
}

TEST(row_weights, refuse_a_column_that_can_be_none) {
  expect_has(error_of([&] {
               row_weights(with_weights({0, 0}), weighted_by());
             }),
             "some weights above 0 in the column 'w'");
  const std::string absent = error_of([&] { row_weights(with_weights({1, 1}), weighted_by("weight")); });
  expect_has(absent, "a column 'weight' of weights; received a table without it");
  expect_has(absent, "known: x, w, y");
  Table table = with_weights({1, 1});
  table.columns[1] = categories("w", {0, 1}, {"a", "b"});
  expect_has(error_of([&] { row_weights(table, weighted_by()); }), "numbers in the column 'w' of weights");
  expect_has(error_of([&] { examples_of(table, weighted_by()); }), "numbers in the column 'w' of weights");
}

TEST(weight_scale, makes_weights_of_importance_sum_to_the_rows) {
  const at::Tensor weights = at::tensor({1.0, 2.0, 6.0}, at::kDouble);
  EXPECT_EQ(weight_scale(weights, weighted_by()), 3);
  FitOptions counts = weighted_by();
  counts.weights_are = "counts";
  EXPECT_EQ(weight_scale(weights, counts), 1);
  const at::Tensor equal = at::full({7}, 0.1, at::kDouble);
  EXPECT_TRUE(at::equal(equal / weight_scale(equal, weighted_by()), at::ones({7}, at::kDouble)));
}

TEST(scored_weights, are_those_of_the_column_and_undefined_where_each_example_counts_once) {
  const Table table = with_weights({1, 2, 0});
  EXPECT_FALSE(scored_weights(table, weighted_by("absent")).defined());
  EXPECT_FALSE(scored_weights(with_weights({1, 1, 1}), weighted_by()).defined());
  EXPECT_EQ(values(scored_weights(with_weights({3, 3}), weighted_by())), (std::vector<double>{3, 3}));
  for (const char* kind : {"importance", "counts"}) {
    FitOptions fit = weighted_by();
    fit.weights_are = kind;
    EXPECT_EQ(values(scored_weights(table, fit)), (std::vector<double>{1, 2, 0}));
  }
}

TEST(scored_weights_note, says_what_weighs_the_scores) {
  EXPECT_EQ(scored_weights_note(with_weights({1, 2}), weighted_by("")), "");
  EXPECT_EQ(scored_weights_note(with_weights({1, 2}), weighted_by()), "the rows are weighted by 'w'");
  expect_has(scored_weights_note(with_weights({1, 0}), weighted_by()), "; 1 row of weight 0 is left out");
  expect_has(scored_weights_note(with_weights({1, 0}), weighted_by("v")),
             "no column 'v' of weights: each row");
}

TEST(positive_examples, are_the_table_itself_without_a_weight_of_0) {
  EXPECT_FALSE(positive_examples(with_weights({1, 2}), weighted_by()).some);
  const PositiveExamples some = positive_examples(with_weights({0, 2, 0, 1}), weighted_by());
  EXPECT_EQ(some.places, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(std::get<Table>(*some.some).find("y")->values, (std::vector<double>{1, 3}));
  EXPECT_FALSE(scored_examples(with_weights({0, 2}), weighted_by("absent")).some);
}

TEST(split_examples, does_not_take_the_weights_for_an_input) {
  // Rows 2 k and 2 k + 1 have equal inputs and other weights: they form one group.
  std::vector<double> x, y, w;
  for (int i = 0; i < 80; ++i) {
    x.push_back(std::sin(i / 2));
    y.push_back(i);
    w.push_back(1 + i % 2);
  }
  const Table table = table_of({numbers("x", x), numbers("w", w), numbers("y", y)});
  EXPECT_EQ(groups_of(table, weighted_by()).count, 40);
  FitOptions input = weighted_by("");
  EXPECT_EQ(groups_of(table, input).count, 80);
}

}  // namespace
}  // namespace slimbayes
