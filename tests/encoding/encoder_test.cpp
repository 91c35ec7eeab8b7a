#include "slimbayes/encoding/encoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "slimbayes/encoding/feature_fit.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"
#include "tests/encoding/fitted_encoder.h"

namespace slimbayes {
namespace {

TEST(Encoder_fit, min_max_uses_the_training_rows_alone_and_does_not_clamp) {
  Table t = table_of({numbers("x", {0, 10, 5, 100}), numbers("y", {1, 3, 2, 50})});
  Encoder e = Encoder::fit(t, {0, 1, 2}, {"y"});
  EXPECT_TRUE(equal(inputs_of(e, t), {-1, 1, 0, 19}));
  EXPECT_DOUBLE_EQ(e.schema().task.y_shift, 2);
  EXPECT_DOUBLE_EQ(e.schema().task.y_scale, std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(e.target(t)[3], 48 / std::sqrt(2.0 / 3));
  EXPECT_EQ(e.schema().features, std::vector<std::string>{"x"});
  EXPECT_EQ(e.target_name(), "y");
}

TEST(Encoder_fit, scale_on_all_takes_the_range_of_every_row_and_nothing_else) {
  Table t = table_of(
      {numbers("x", {0, 10, kNone, 100}), numbers("late", {1, 1, 1, 3}), numbers("y", {1, 3, 2, 50})});
  Encoder e = Encoder::fit(t, {0, 1, 2}, {"y", "min-max", {}, "all"}),
          own = Encoder::fit(t, {0, 1, 2}, {"y"});
  EXPECT_EQ(e.schema().features, (std::vector<std::string>{"x", "x (missing)", "late"}));
  EXPECT_EQ(own.schema().features, (std::vector<std::string>{"x", "x (missing)"}));
  // The mean that replaces the missing cell and the target's scale still come from the training rows.
  EXPECT_TRUE(equal(inputs_of(e, t), {-1, 0, -1, -0.8, 0, -1, -0.9, 1, -1, 1, 0, 1}));
  EXPECT_EQ(e.schema().task.y_shift, own.schema().task.y_shift);
  EXPECT_EQ(e.schema().task.y_scale, own.schema().task.y_scale);
  EXPECT_TRUE(has_note(e.notes(), "range of every row"));
  Encoder back = Encoder::from_json(e.to_json());
  EXPECT_EQ(back.scale_on(), "all");
  EXPECT_EQ(back.to_json(), e.to_json());
  EXPECT_EQ(Encoder::from_json(own.to_json()).scale_on(), "train");
  EXPECT_THROW(Encoder::fit(t, {0, 1}, {"y", "min-max", {}, "test"}), std::invalid_argument);
}

TEST(Encoder_fit, a_centred_target_is_stored_with_its_sd) {
  Table t = table_of({numbers("x", {0, 10, 5}), numbers("y", {1, 3, 8})});
  const Encoder e = fitted(t, {"y", "standard", {}, "train", {}, {}, {}, "centred"}),
                back = Encoder::from_json(e.to_json());
  EXPECT_EQ(e.target(t), (std::vector<double>{-3, -1, 4}));
  EXPECT_EQ(back.to_json(), e.to_json());
  EXPECT_EQ(back.schema().task.encoded_sd, e.schema().task.encoded_sd);
  EXPECT_EQ(back.target(t), e.target(t));
  nlohmann::json damaged = e.to_json();
  damaged["encoded_sd"] = 0;
  EXPECT_THROW(Encoder::from_json(damaged), std::invalid_argument);
}

TEST(Encoder_fit, standard_gives_mean_0_sd_1) {
  Table t = table_of({numbers("x", {1, 2, 4, 9}), numbers("y", {1, 2, 3, 4})});
  double sum = 0, square = 0;
  for (const float x : inputs_of(fitted(t, {"y", "standard"}), t)) sum += x, square += x * x;
  EXPECT_NEAR(sum / 4, 0, 1e-6);
  EXPECT_NEAR(square / 4, 1, 1e-6);
}

TEST(Encoder_fit, one_hot_in_the_order_of_names_with_zeros_for_a_new_level) {
  Table t = table_of({categories("c", {0, 1, 2, 1}, {"red", "blue", "new"}), numbers("y", {1, 2, 3, 4})});
  Encoder e = Encoder::fit(t, {0, 1}, {"y"});
  EXPECT_EQ(e.schema().features, (std::vector<std::string>{"c = blue", "c = red"}));
  EXPECT_TRUE(equal(inputs_of(e, t), {0, 1, 1, 0, 0, 0, 1, 0}));
  EXPECT_TRUE(has_note(e.notes_for(t), "column 'c': 1 of 4 cells hold a category not seen in training"));
}

TEST(Encoder_fit, missing_training_cells_give_the_mean_and_an_indicator) {
  Table t = table_of({numbers("x", {0, 1, 5, kNone}), categories("c", {0, kNone, 1, 0}, {"a", "b"}),
                      numbers("y", {1, 2, 3, 4})});
  Encoder e = fitted(t);
  EXPECT_EQ(e.schema().features,
            (std::vector<std::string>{"x", "x (missing)", "c = a", "c = b", "c (missing)"}));
  const std::vector<float> x = inputs_of(e, t);
  EXPECT_FLOAT_EQ(x[15], (2 - 2.5) / 2.5);
  EXPECT_TRUE(equal(columns_of(x, 5, 1, 2), {0, 0, 0, 1}));
  EXPECT_TRUE(equal({x.begin() + 7, x.begin() + 10}, {0, 0, 1}));
  EXPECT_TRUE(has_note(e.notes(), "column 'x': 1 of 4 training cells are missing: imputed with the mean"));
}

TEST(Encoder_fit, drops_constants_empty_columns_and_free_text) {
  std::vector<double> index, number, constant(200, 3), none(200, kNone), level(200, 0), partly(200, 3);
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) {
    index.push_back(i);
    number.push_back(i * 0.5);
    ids.push_back(fmt::format("id{}", i));
    if (i % 2) partly[static_cast<size_t>(i)] = kNone;
  }
  Table t = table_of({numbers("x", number), numbers("k", constant), numbers("m", none),
                      categories("c", level, {"a"}), categories("id", index, ids), numbers("partly", partly),
                      numbers("y", number)});
  Encoder e = fitted(t);
  EXPECT_EQ(e.schema().features, (std::vector<std::string>{"x", "partly (missing)"}));
  EXPECT_TRUE(has_note(e.notes(), "column 'm' holds no value"));
  EXPECT_TRUE(
      has_note(e.notes(), "3 columns are constant on the training rows: dropped ('k', 'c', 'partly')"));
  EXPECT_TRUE(has_note(e.notes(), "column 'id': 200 of 200 training cells differ"));
  // A table to be predicted need not hold the dropped columns.
  EXPECT_EQ(inputs_of(e, table_of({numbers("partly", {1}), numbers("x", {1})})).size(), 2u);
}

TEST(Encoder_fit, many_dropped_columns_share_a_sentence) {
  std::vector<Column> columns = {numbers("x", {1, 2, 3}), numbers("y", {1, 2, 3})};
  for (int i = 0; i < 7; ++i) columns.push_back(numbers(fmt::format("k{}", i), {1, 1, 1}));
  const Encoder e = fitted(table_of(columns));
  ASSERT_EQ(e.notes().size(), 1u);
  EXPECT_EQ(e.notes()[0],
            "7 columns are constant on the training rows: dropped ('k0', 'k1', 'k2', 'k3', 'k4' and 2 more)");
}

TEST(Encoder_fit, row_numbers_are_no_input_beside_others) {
  const std::vector<double> x = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, n = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Encoder e = fitted(table_of({numbers("order_no", n), numbers("x", x), numbers("y", x)}));
  EXPECT_EQ(e.schema().features, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(has_note(e.notes(), "column 'order_no' numbers the rows (1, 2, 3, ...): no input"));
  const Encoder alone = fitted(table_of({numbers("order_no", n), numbers("y", x)}));
  EXPECT_EQ(alone.schema().features, (std::vector<std::string>{"order_no"}));
}

TEST(Encoder_fit, many_dates_that_are_not_read_are_no_input) {
  std::vector<double> level, x;
  std::vector<std::string> days;
  for (int i = 0; i < 80; ++i) days.push_back(fmt::format("{:02}.{:02}.2025", i % 28 + 1, i / 28 + 1));
  for (int i = 0; i < 240; ++i) {
    level.push_back(i % 80);
    x.push_back(i % 7);
  }
  const Table t = table_of({categories("day", level, days), numbers("x", x), numbers("y", x)});
  EXPECT_EQ(fitted(t).schema().features, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(has_note(fitted(t).notes(), "column 'day': 80 different dates in a notation that is not read"));
}

TEST(Encoder_fit, row_labels_are_no_input) {
  const Table t =
      table_of({numbers("Unnamed: 0", {0, 1, 2}), numbers("x", {1, 2, 3}),
                categories("__index_level_0__", {0, 1, 2}, {"a", "b", "c"}), numbers("y", {1, 2, 3})});
  const Encoder e = Encoder::from_json(fitted(t).to_json());
  EXPECT_EQ(e.schema().features, (std::vector<std::string>{"x"}));
  EXPECT_TRUE(has_note(e.notes(), "column 'Unnamed: 0' (it has no name) holds row labels: no input"));
  EXPECT_TRUE(has_note(e.notes(), "column '__index_level_0__' holds row labels: no input"));
  EXPECT_TRUE(e.notes_for(t).empty());
  EXPECT_TRUE(e.notes_for(table_of({numbers("x", {1})})).empty());
  EXPECT_EQ(e.to_json()["columns"][0]["dropped"], "row labels");
  // A row-label column that the user declares categorical is an input.
  EXPECT_EQ(Encoder::fit(t, all_rows(t), {"y", "min-max", {}, "train", {}, {}, {"__index_level_0__"}})
                .schema()
                .features.size(),
            4u);
}

TEST(Encoder_fit, of_many_levels_63_and_other) {
  std::vector<double> cells, y;
  std::vector<std::string> levels;
  for (int i = 0; i < 100; ++i) {
    levels.push_back(fmt::format("l{}", i));
    for (int k = 0; k < (i < 63 ? 3 : 2); ++k) cells.push_back(i), y.push_back(k);
  }
  Table t = table_of({categories("c", cells, levels), numbers("y", y)});
  Encoder e = fitted(t);
  ASSERT_EQ(e.schema().features.size(), 64u);
  EXPECT_EQ(e.schema().features.back(), "c (other)");
  const std::vector<float> x = inputs_of(e, t);
  for (auto row = x.begin(); row != x.end(); row += 64) EXPECT_EQ(std::accumulate(row, row + 64, 0.0F), 1);
  const std::vector<float> other = columns_of(x, 64, 63, 64);
  EXPECT_EQ(std::accumulate(other.begin(), other.end(), 0.0F), 37 * 2);
  EXPECT_EQ(most_features(t), 64 + 1);  // with y
  Table later = table_of({categories("c", {0}, {"unheard of"})});
  EXPECT_EQ(inputs_of(e, later)[63], 1);
}

TEST(Encoder_fit, huge_and_tiny_magnitudes_stay_finite) {
  for (const char* scale : {"min-max", "standard"}) {
    Table t = table_of({numbers("x", {-1.7e308, 1.7e308, 1e300}), numbers("tiny", {1e-300, 2e-300, 3e-300}),
                        numbers("y", {-1e135, 1e135, 5e134})});
    Encoder e = fitted(t, {"y", scale});
    for (const float x : inputs_of(e, t)) EXPECT_LE(std::abs(x), 2);  // false for NaN, too
    double square = 0;
    for (const double y : e.target(t)) square += y * y / 3;
    EXPECT_NEAR(square, 1, 1e-12);
    expect_has(error_of([&] {
                 inputs_of(e, table_of({numbers("x", {0, 0}), numbers("tiny", {0, 1e300})}));
               }),
               "t.csv: data row 2: ");
  }
}

TEST(Encoder_fit, equal_targets_have_scale_1) {
  Table t = table_of({numbers("x", {1, 2}), numbers("y", {5, 5})});
  Encoder e = fitted(t);
  EXPECT_EQ(e.schema().task.y_scale, 1);
  EXPECT_EQ(e.schema().task.y_shift, 5);
  EXPECT_EQ(e.target(t), (std::vector<double>{0, 0}));
}

TEST(Encoder_fit, boolean_and_datetime_columns) {
  Table t = table_of({{"b", ColumnKind::boolean, {1, 0}, {}},
                      {"d", ColumnKind::datetime, {0, 86400}, {}},
                      {"y", ColumnKind::boolean, {1, 0}, {}}});
  Encoder e = fitted(t, {"y", "min-max", {}, "train", LikelihoodKind::gaussian});
  EXPECT_TRUE(equal(inputs_of(e, t), {1, -1, -1, 1}));
  EXPECT_EQ(e.target(t), (std::vector<double>{1, -1}));
}

TEST(Encoder_fit, errors) {
  Table t = table_of({numbers("price", {1, 2, 3}), categories("c", {0, 1, 0}, {"a", "b"}),
                      numbers("y", {1, kNone, 3}), numbers("k", {1, 1, 1})});
  auto fit_error = [&](std::vector<int64_t> rows, EncoderOptions options) {
    return error_of([&] { Encoder::fit(t, rows, options); });
  };
  expect_has(fit_error({0}, {"prise"}),
             "[Encoder::fit] expected a target that is a column; received 'prise'; did you mean "
             "'price'?");
  expect_has(fit_error({0}, {"c", "min-max", {}, "train", LikelihoodKind::gaussian}),
             "received a categorical column; `.likelihood=gaussian` needs numbers");
  expect_has(fit_error({0, 1, 2}, {"y"}),
             "t.csv: data row 2: expected a finite number in the target 'y'; received a missing cell");
  expect_has(fit_error({0, 2}, {"price", "min-max", {"prize"}}),
             "columns of the table to ignore; received 'prize'; did");
  expect_has(fit_error({0, 2}, {"price", "min-max", {"price"}}), "a target that is not ignored");
  expect_has(fit_error({0, 2}, {"price", "log"}), "a scale 'min-max' or 'standard'; received 'log'");
  expect_has(fit_error({}, {"price"}), "at least one training row");
  expect_has(fit_error({3}, {"price"}), "rows below 3");
  expect_has(fit_error({0, 2}, {"price", "min-max", {"c", "y"}}), "at least one input that varies");
  EXPECT_NO_THROW(Encoder::fit(t, {0, 2}, {"y"}));
  EXPECT_THROW(Encoder::fit(t, {0, 1}, {"y"}), DataError);
  Encoder e = Encoder::fit(t, {0, 2}, {"y"});
  expect_has(error_of([&] { e.target(t); }), "t.csv: data row 2: ");
  expect_has(error_of([&] { e.target(table_of({numbers("x", {1})})); }), "the target column 'y'");
}

TEST(Encoder_fit, says_what_looks_odd) {
  Table t =
      table_of({numbers("x", {1, 2, 3, 4}), categories("pay", {0, 1, 0, 1}, {"1,000", "2,000"}),
                categories("day", {0, 1, 0, 1}, {"31.12.2021", "1.1.2022"}), numbers("y", {5, 5, 5, 5})});
  std::string notes;
  const Encoder e = fitted(t, {"y"});
  for (const std::string& note : e.notes()) notes += note + "\n";
  expect_has(notes, "the target 'y' is the same in every training row");
  expect_has(notes, "the predicted sd and intervals mean nothing");
  expect_has(notes, "column 'pay': its categories look like numbers ('1,000')");
  expect_has(notes, "column 'day': its categories look like dates ('31.12.2021')");
  Table new_one =
      table_of({numbers("x", {1}), categories("pay", {0}, {"9"}), categories("day", {0}, {"1.1.2022"})});
  const std::vector<std::string> about = e.notes_for(new_one);
  ASSERT_EQ(about.size(), 1u);
  expect_has(about[0],
             "1 of 1 cells hold a category not seen in training: encoded as zeros (the first: '9')");
}

}  // namespace
}  // namespace slimbayes
