#include "slimbayes/model/row_predictor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "slimbayes/core/random.h"
#include "slimbayes/fit/fit_model.h"

namespace slimbayes {
namespace {

/// Columns of numbers, one with missing cells and one that is constant, and a target above 0.
Table numbers(int64_t n, uint64_t seed) {
  Table table{"numbers", {}, n};
  const Stream stream(seed);
  std::vector<double> y(static_cast<size_t>(n));
  for (const char* name : {"a", "b", "constant", "c"}) {
    Column column;
    column.name = name;
    const Stream own = stream.split(name);
    for (int64_t i = 0; i < n; ++i) {
      double cell = std::string(name) == "constant" ? 4 : 10 + 3 * own.uniform(static_cast<uint64_t>(i));
      y[static_cast<size_t>(i)] += cell;
      if (std::string(name) == "b" && i % 9 == 3) cell = kMissing;
      column.values.push_back(cell);
    }
    table.columns.push_back(std::move(column));
  }
  for (int64_t i = 0; i < n; ++i)
    y[static_cast<size_t>(i)] = std::exp(0.3 * (y[static_cast<size_t>(i)] - 35) +
                                         0.1 * stream.split("noise").normal(static_cast<uint64_t>(i)));
  table.columns.push_back({"y", ColumnKind::numeric, std::move(y), {}});
  return table;
}

std::vector<double> cells_of(const Table& table, const std::vector<std::string>& columns, int64_t row) {
  std::vector<double> cells;
  for (const std::string& name : columns) cells.push_back(table.find(name)->values[static_cast<size_t>(row)]);
  return cells;
}

FitOptions quickly(const std::string& method, nlohmann::json options) {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = std::move(options);
  return fit;
}

/// Every method answers as Model::predict and Model::interval do, a row at a time, also a missing cell.
void expect_same(const Model& model) {
  const Table fresh = numbers(40, 2);
  const Regression p = model.predict(fresh);
  RowPredictor rows(model);
  EXPECT_EQ(rows.columns(), (std::vector<std::string>{"a", "b", "c"}));
  for (const double level : {0.95, 0.5}) {
    const Interval ends = model.interval(p, level);
    for (int64_t i = 0; i < fresh.rows; ++i) {
      const RowAnswer a = rows(cells_of(fresh, rows.columns(), i));
      const auto near = [i](double x, const at::Tensor& y) {
        EXPECT_NEAR(x, y[i].item<double>(), 1e-11 * (1 + std::abs(x)));
      };
      near(a.mean, p.mean);
      near(a.aleatoric_var, p.aleatoric_var);
      near(a.epistemic_var, p.epistemic_var);
      const RowInterval one = rows.interval(level);
      near(one.lower, ends.lower);
      near(one.upper, ends.upper);
    }
  }
}

TEST(RowPredictor, AnswersAsTheModel) {
  expect_same(fit_model(numbers(300, 1), quickly("dbk", {{"steps", 40}, {"hidden", 16}, {"rank", 12}})));
  expect_same(fit_model(numbers(300, 1), quickly("ridge", nlohmann::json::object())));
  expect_same(fit_model(numbers(200, 1), quickly("auto", {{"candidates", "constant,ridge"}})));
}

TEST(RowPredictor, AnswersAsACalibratedModel) {
  for (const char* method : {"ridge", "auto"}) {
    FitOptions request = quickly(method, nlohmann::json::object());
    if (request.method == "auto") request.options = {{"candidates", "constant,ridge"}};
    request.calibrate = "conformal";
    const Model model = fit_model(numbers(400, 1), request);
    ASSERT_GT(model.calibration().groups, 0);
    expect_same(model);
    RowPredictor rows(model);
    rows(cells_of(numbers(1, 2), rows.columns(), 0));
    EXPECT_THROW(rows.interval(0.9999), std::invalid_argument);  // too few calibration rows
  }
}

TEST(RowPredictor, TakesEncodedRows) {
  const Model model = fit_model(numbers(100, 1), quickly("ridge", nlohmann::json::object()));
  const Table fresh = numbers(3, 2);
  RowPredictor rows(model);
  std::vector<float> x(static_cast<size_t>(3 * rows.inputs()));
  std::get<Encoder>(model.encoder()).inputs(fresh, x);
  const std::span<const float> all(x);
  const auto d = static_cast<size_t>(rows.inputs());
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(rows.encoded(all.subspan(i * d, d)).mean,
              rows(cells_of(fresh, rows.columns(), static_cast<int64_t>(i))).mean);
  EXPECT_THROW(rows.encoded(all.first(1)), std::invalid_argument);
}

TEST(RowPredictor, RefusesWhatItCannotAnswer) {
  const Model model = fit_model(numbers(100, 1), quickly("ridge", nlohmann::json::object()));
  RowPredictor rows(model);
  EXPECT_THROW(rows(std::vector<double>{1, 2}), std::invalid_argument);
  EXPECT_THROW(rows(std::vector<double>{1e12, 11, 11}), std::invalid_argument);
  EXPECT_THROW(rows(std::vector<double>{std::numeric_limits<double>::infinity(), 11, 11}),
               std::invalid_argument);
  EXPECT_TRUE(std::isfinite(rows(std::vector<double>{11, kMissing, 11}).mean));
  EXPECT_THROW(rows.interval(1), std::invalid_argument);
  RowPredictor fresh(model);
  EXPECT_THROW(fresh.interval(0.9), std::invalid_argument);  // there is no answer yet
  std::vector<float> x(static_cast<size_t>(fresh.inputs()), 0.5F);
  EXPECT_TRUE(std::isfinite(fresh.encoded(x).mean));
  x[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(fresh.encoded(x), std::invalid_argument);

  Table words = numbers(100, 1);
  words.columns[0].kind = ColumnKind::categorical;
  words.columns[0].levels = {"low", "high"};
  for (size_t i = 0; i < 100; ++i) words.columns[0].values[i] = static_cast<double>(i % 2);
  RowPredictor of_words(fit_model(words, quickly("ridge", nlohmann::json::object())));
  EXPECT_THROW(of_words(std::vector<double>{0, 11, 11}), std::invalid_argument);

  Table classes = numbers(100, 1);
  for (double& y : classes.columns.back().values) y = y > 1 ? 1 : 0;
  classes.columns.back().kind = ColumnKind::boolean;
  EXPECT_THROW(RowPredictor(fit_model(classes, quickly("logistic", nlohmann::json::object()))),
               std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
