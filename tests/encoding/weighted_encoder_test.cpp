// A row of integer weight w is encoded as w equal rows are.
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/encoding/column_statistics.h"
#include "slimbayes/encoding/moments.h"
#include "slimbayes/encoding/text.h"
#include "tests/encoding/fitted_encoder.h"
#include "tests/encoding/windows/window_tables.h"

namespace slimbayes {
namespace {

/// Returns the table with each row as often as its weight says.
Table repeated_by(const Table& table, const std::vector<double>& weights) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < weights.size(); ++i)
    for (int k = 0; k < static_cast<int>(weights[i]); ++k) rows.push_back(static_cast<int64_t>(i));
  return take_rows(table, rows);
}

const std::vector<double> kTimes = {1, 3, 2, 1, 4};

Table uneven_rows() {
  return table_of({numbers("x", {0.3, 10.7, 5.1, kNone, -2.9}), numbers("y", {1.5, 3.25, 2, 9, -4})});
}

void expect_near(const Moments& a, const Moments& b) {
  EXPECT_NEAR(a.mean, b.mean, 1e-12 * std::abs(b.mean));
  EXPECT_NEAR(a.sd, b.sd, 1e-12 * b.sd);
  EXPECT_EQ(a.middle, b.middle);
  EXPECT_EQ(a.half_range, b.half_range);
}

TEST(moments, integer_weights_are_repeated_values) {
  const std::vector<double> weights = {2, 1, 3};
  expect_near(moments({1.5, -7, 4.25}, weights), moments({1.5, 1.5, -7, 4.25, 4.25, 4.25}));
  expect_near(moments({1.5e300, -7e299, 4.25e300}, weights),
              moments({1.5e300, 1.5e300, -7e299, 4.25e300, 4.25e300, 4.25e300}));
}

TEST(moments, weights_of_one_change_no_bit) {
  const std::vector<double> values = {0.1, 0.7, -3.3, 12.9}, ones = {1, 1, 1, 1};
  const Moments a = moments(values), b = moments(values, ones);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.sd, b.sd);
}

TEST(moments, their_scale_does_not_matter) {
  expect_near(moments({1, 2, 4}, std::vector<double>{0.5, 0.25, 1}),
              moments({1, 2, 4}, std::vector<double>{2, 1, 4}));
}

TEST(column_statistics, sums_the_weights_of_each_level_beside_its_cells) {
  const Column c = categories("c", {0, 1, kNone, 1, 0}, {"a", "b"});
  const ColumnStatistics own = column_statistics(c, {0, 1, 2, 3, 4}, kTimes);
  EXPECT_EQ(own.counts, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(own.weights, (std::vector<double>{5, 4}));
  EXPECT_EQ(own.present, 4);
  EXPECT_TRUE(column_statistics(c, {0, 1}).weights.empty());
}

TEST(Encoder_fit, integer_weights_are_repeated_rows) {
  const Table table = uneven_rows(), repeated = repeated_by(table, kTimes);
  for (const char* scale : {"standard", "min-max"}) {
    EncoderOptions options{.target = "y", .scale = scale};
    const Encoder plain = fitted(repeated, options);
    options.weights = kTimes;
    const Encoder own = fitted(table, options);
    const Task &a = own.schema().task, &b = plain.schema().task;
    EXPECT_NEAR(a.y_shift, b.y_shift, 1e-12);
    EXPECT_NEAR(a.y_scale, b.y_scale, 1e-12);
    EXPECT_EQ(a.low, b.low);
    ASSERT_EQ(own.columns().size(), 1U);
    const Encoder::Feature &f = own.columns()[0], &g = plain.columns()[0];
    EXPECT_NEAR(f.fill, g.fill, 1e-12);
    EXPECT_NEAR(f.shift, g.shift, 1e-12);
    EXPECT_NEAR(f.scale, g.scale, 1e-12);
    EXPECT_NEAR(f.range->sd, g.range->sd, 1e-12);
    EXPECT_EQ(f.range->low, g.range->low);
    // The weights do change what the encoder learns.
    EXPECT_GT(std::abs(a.y_shift - fitted(table, {"y"}).schema().task.y_shift), 0.1);
  }
}

TEST(Encoder_fit, weights_decide_which_of_many_categories_have_a_feature) {
  std::vector<double> cells, y, weights;
  std::vector<std::string> levels;
  for (int i = 0; i < 140; ++i) {
    cells.push_back(i % 70);
    y.push_back(i * 0.37);
    weights.push_back(i % 70 < 63 ? 2 : 1);
    if (i < 70) levels.push_back("c" + std::to_string(100 + i));
  }
  const Table table = table_of({categories("c", cells, levels), numbers("y", y)});
  EncoderOptions options{.target = "y"};
  options.weights = weights;
  EXPECT_EQ(fitted(table, options).columns()[0].levels,
            std::vector<std::string>(levels.begin(), levels.begin() + 63));
  std::ranges::reverse(options.weights);  // now the last 63 of them
  const std::vector<std::string> last = fitted(table, options).columns()[0].levels;
  EXPECT_EQ(last, std::vector<std::string>(levels.begin() + 7, levels.end()));
}

TEST(Encoder_fit, refuses_weights_of_other_rows_and_keeps_none) {
  EncoderOptions options{.target = "y"};
  options.weights = {1, 2};
  expect_has(error_of([&] { fitted(uneven_rows(), options); }),
             "a weight for each of the 5 rows; received 2");
}

TEST(TextEncoder, AWordOfAHeavyRowIsAFrequentOne) {
  const Table table =
      table_of({categories("text", {0, 1, 2, 3}, {"red car", "blue car", "red bus", "old bus"}),
                categories("label", {0, 1, 0, 1}, {"up", "down"})});
  const auto words = [&](std::span<const double> weights, const Table& rows) {
    return TextEncoder::fit(rows, all_rows(rows), {"text", 20000, 256}, {.name = "label", .weights = weights})
        .to_json()["words"];
  };
  const std::vector<double> weights = {1, 1, 1, 5};
  EXPECT_EQ(words(weights, table), words({}, repeated_by(table, weights)));
  EXPECT_NE(words(weights, table), words({}, table));
  const std::vector<double> few = {1};
  expect_has(error_of([&] { words(few, table); }), "a weight for each of the 4 rows");
}

TEST(WindowEncoder, WeightsOfWindowsWeighTheTargetsAlone) {
  const Table table = hourly(8);
  const Windows windows = find_windows(table, windows_of(2));
  const WindowTable all = window_table_of(table, windows, all_of(windows));
  EncoderOptions options = encoding();
  options.weights = {1, 1, 1, 1, 1, 1, 1, 4};  // the last row is the target of the last window
  const WindowEncoder own = WindowEncoder::fit(all, options), plain = WindowEncoder::fit(all, encoding());
  // Targets 20, 30, 40, 50, 60 once and 70 four times.
  EXPECT_NEAR(own.schema().task.y_shift, (200 + 4 * 70) / 9.0, 1e-12);
  EXPECT_EQ(plain.schema().task.y_shift, 45);
  EXPECT_EQ(own.rows().to_json(), plain.rows().to_json());
}

}  // namespace
}  // namespace slimbayes
