#include "slimbayes/model/persistence.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "slimbayes/answers/density.h"
#include "slimbayes/answers/metrics.h"
#include "tests/data/tables.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

/// Rows in steps of `step` seconds, y(i) = values[i], with another input.
Table stepped(const std::vector<double>& values, double step) {
  std::vector<double> time, x;
  for (size_t i = 0; i < values.size(); ++i) {
    time.push_back(static_cast<double>(i) * step);
    x.push_back(std::sin(static_cast<double>(i)));
  }
  Table table = table_of({numbers("t", time), numbers("x", x), numbers("y", values)});
  table.columns[0].kind = ColumnKind::datetime;
  return table;
}

/// The windows of a table whose target is in it, with the encoder fitted on all of them.
struct Case {
  WindowTable windows;
  InputEncoder encoder;
};

Case case_of(const Table& table, int64_t window, int64_t horizon,
             std::optional<LikelihoodKind> likelihood = {}) {
  const WindowOptions options{window, horizon, {"t"}, {}};
  Windows found = find_windows(table, options);
  const std::vector<int64_t> chosen = windows_with_target(table, found, "y");
  EncoderOptions encoding;
  encoding.target = "y";
  encoding.likelihood = likelihood;
  const WindowTable windows{std::make_shared<const Table>(table),
                            std::make_shared<const Windows>(std::move(found)), chosen};
  return {windows, WindowEncoder::fit(windows, encoding)};
}

Regression answer_of(const at::Tensor& mean) { return {mean, at::ones_like(mean), at::ones_like(mean)}; }

/// The scores of the forecasts alone, of which a report has no other number.
Evaluation with_forecasts(const InputEncoder& encoder, const WindowTable& windows, const Predictive& answer) {
  Evaluation report;
  add_persistence(encoder, windows, answer, report);
  return report;
}

TEST(persistence, OfWeightsIsThatOfTheWindowsRepeated) {
  std::vector<double> y;
  for (int i = 0; i < 80; ++i) y.push_back(std::sin(0.7 * i) + 0.1 * i);
  y[30] = kNone;
  const Case given = case_of(stepped(y, 3600), 4, 2);
  const at::Tensor truth = target_as_given(given.encoder, given.windows),
                   error = at::arange(truth.numel(), at::kDouble).sin();
  std::vector<double> weight;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < truth.numel(); ++i) {
    weight.push_back(static_cast<double>(1 + i % 3));
    for (int64_t k = 0; k < 1 + i % 3; ++k) places.push_back(i);
  }
  const at::Tensor answer = truth + error;
  Evaluation weighed;
  add_persistence(given.encoder, given.windows, answer_of(answer), weighed, at::tensor(weight, at::kDouble));
  const auto windows = std::get<WindowTable>(take(Examples(given.windows), places));
  const Evaluation each = with_forecasts(given.encoder, windows,
                                         answer_of(answer.index_select(0, at::tensor(places, at::kLong))));
  for (const auto forecast : {&Evaluation::persistence, &Evaluation::seasonal_persistence}) {
    const ForecastScores &one = (weighed.*forecast).value(), &other = (each.*forecast).value();
    EXPECT_NEAR(one.mae.value(), other.mae.value(), 1e-12);
    EXPECT_NEAR(one.rmse.value(), other.rmse.value(), 1e-12);
    EXPECT_NEAR(one.model_mae.value(), other.model_mae.value(), 1e-12);
    EXPECT_LT(one.n, other.n);
  }
}

std::vector<double> squares(int64_t n) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(i * i));
  return values;
}

TEST(persistence, OfNumbersIsTheLastKnownTargetAndThatOfADayBefore) {
  std::vector<double> y = squares(60);
  y[30] = kNone;
  const Case given = case_of(stepped(y, 3600), 4, 2);
  const at::Tensor truth = target_as_given(given.encoder, given.windows);
  const Evaluation report = with_forecasts(given.encoder, given.windows, answer_of(truth + 3));
  double sum = 0, squared = 0, seasonal = 0;
  int64_t n = 0, seasons = 0;
  for (int64_t last = 3; last + 2 < 60; ++last) {  // dense
    if (last + 2 == 30) continue;
    const auto at = [&](int64_t row) { return y[static_cast<size_t>(row)]; };
    const double error = at(last + 2) - at(last == 30 ? 29 : last);
    sum += error, squared += error * error, ++n;
    if (last + 2 < 24 || last + 2 - 24 == 30) continue;
    seasonal += at(last + 2) - at(last + 2 - 24), ++seasons;
  }
  const ForecastScores last = report.persistence.value();
  EXPECT_EQ(last.n, n);
  EXPECT_NEAR(last.mae.value(), sum / static_cast<double>(n), 1e-9);
  EXPECT_NEAR(last.rmse.value(), std::sqrt(squared / static_cast<double>(n)), 1e-9);
  EXPECT_NEAR(last.model_mae.value(), 3, 1e-9);
  const Task& task = schema_of(given.encoder).task;
  EXPECT_NEAR(last.mae_standardized.value() * task.y_scale * task.encoded_sd, last.mae.value(), 1e-9);
  const ForecastScores season = report.seasonal_persistence.value();
  EXPECT_EQ(season.season, "24 steps");
  EXPECT_EQ(season.n, seasons);
  EXPECT_NEAR(season.mae.value(), seasonal / static_cast<double>(seasons), 1e-9);
}

TEST(persistence, TheModelsErrorIsThatOfTheMedianAsInItsReport) {
  const Case given = case_of(stepped(squares(60), 3600), 4, 2);
  const at::Tensor truth = target_as_given(given.encoder, given.windows), ones = at::ones_like(truth);
  const Regression skewed = mixed({{0.8, truth + 1, ones, ones}, {0.2, truth + 40, ones, ones}});
  const Evaluation report = with_forecasts(given.encoder, given.windows, skewed);
  EXPECT_NEAR(report.persistence.value().model_mae.value(), mean_absolute_error(skewed, truth), 1e-9);
}

TEST(persistence, TheSeasonIsAWeekOfDaysAndNoneThatIsNotKnownYet) {
  const auto season = [](const Table& table, int64_t horizon) -> std::string {
    const Case given = case_of(table, 2, horizon);
    const at::Tensor y = target_as_given(given.encoder, given.windows);
    const Evaluation report = with_forecasts(given.encoder, given.windows, answer_of(y));
    return report.seasonal_persistence ? report.seasonal_persistence->season.value() : "none";
  };
  EXPECT_EQ(season(stepped(squares(40), 86400), 1), "7 steps");
  EXPECT_EQ(season(stepped(squares(40), 86400), 8), "none");
  EXPECT_EQ(season(stepped(squares(60), 3600), 30), "none");         // the table holds less than a week
  EXPECT_EQ(season(stepped(squares(200), 3600), 30), "168 steps");   // a day is shorter than the horizon
  EXPECT_EQ(season(stepped(squares(60), 7 * 3600), 1), "24 steps");  // a week: 7 h do not divide a day
  EXPECT_EQ(season(stepped(squares(20), 3600), 1), "none");
  Table numbered = stepped(squares(60), 3600);
  numbered.columns[0].kind = ColumnKind::numeric;  // numbers without a calendar
  EXPECT_EQ(season(numbered, 1), "none");
}

TEST(persistence, NeverTakesTheValueOfAnotherSeries) {
  Table table = stepped(squares(60), 3600);
  table.columns.push_back(categories("g", {}, {"a", "b"}));
  for (int64_t i = 0; i < 60; ++i) table.columns[3].values.push_back(i < 30 ? 0 : 1);
  const WindowOptions options{3, 1, {"t"}, {"g"}};
  Windows found = find_windows(table, options);
  const std::vector<int64_t> chosen = windows_with_target(table, found, "y");
  EncoderOptions encoding;
  encoding.target = "y";
  const WindowTable windows{std::make_shared<const Table>(table),
                            std::make_shared<const Windows>(std::move(found)), chosen};
  const InputEncoder encoder = WindowEncoder::fit(windows, encoding);
  const at::Tensor y = target_as_given(encoder, windows);
  const Evaluation report = with_forecasts(encoder, windows, answer_of(y));
  EXPECT_EQ(report.seasonal_persistence.value().n, 12);  // hours 24 to 29 of each
}

TEST(persistence, OfBeijingsLastWindowsIsThatOfTheDocumentation) {
  const auto path = real_data("beijing_pm25.csv.gz");
  if (!path) return;
  FitOptions fit;
  fit.target = "pm2.5";
  fit.window = 24;
  fit.time = {"year", "month", "day", "hour"};
  fit.ignore = {"No"};
  fit.test_fraction = 0.15;
  const Examples all = examples_of(read_table(*path), fit);
  const SplitRows split = split_examples(all, fit);
  const InputEncoder encoder = fit_encoder(all, split.train, fit, "standard");
  const auto test = std::get<WindowTable>(take(all, split.test));
  const at::Tensor y = target_as_given(encoder, test);
  const Evaluation report = with_forecasts(encoder, test, answer_of(y));
  EXPECT_EQ(report.persistence.value().n, 6240);
  EXPECT_NEAR(report.persistence.value().mae.value(), 10.92, 0.005);  // docs/inputs.md, measured apart
}

TEST(persistence, OfClassesHasAnAccuracy) {
  std::vector<double> y;
  for (int64_t i = 0; i < 40; ++i) y.push_back(i / 3 % 2 == 0 ? 1 : 2);
  const Case given = case_of(stepped(y, 3600), 4, 1, LikelihoodKind::bernoulli);
  const int64_t m = std::ssize(given.windows.selected);
  const at::Tensor one = at::full({m}, 0.5, at::kDouble),
                   truth = target_as_given(given.encoder, given.windows);
  const at::Tensor p = at::stack({1 - truth, truth}, 1).to(at::kDouble);
  const Classes answer{p, one, one};
  const Evaluation report = with_forecasts(given.encoder, given.windows, answer);
  EXPECT_EQ(report.persistence.value().model_accuracy, 1);
  int64_t same = 0;
  for (int64_t last = 3; last + 1 < 40; ++last)
    same += y[static_cast<size_t>(last)] == y[static_cast<size_t>(last + 1)];
  EXPECT_NEAR(report.persistence.value().accuracy.value(), static_cast<double>(same) / static_cast<double>(m),
              1e-12);
  EXPECT_FALSE(report.persistence.value().mae);
  EXPECT_EQ(report.seasonal_persistence.value().accuracy, 1);  // 24 hours are four of its periods
}

TEST(persistence, NotesAModelThatIsNoBetter) {
  Evaluation report{.n = 40, .persistence = ForecastScores{.n = 40, .mae = 0.5, .model_mae = 0.5}};
  ASSERT_EQ(persistence_notes(report, "the 40 test windows").size(), 1u);
  expect_has(persistence_notes(report, "the 40 test windows")[0],
             "on the 40 test windows the model's MAE, 0.5, is no better than that of the last target that a "
             "window sees, 0.5");
  report.persistence->model_mae = 0.49;
  EXPECT_TRUE(persistence_notes(report, "").empty());
  report.seasonal_persistence =
      ForecastScores{.n = 30, .accuracy = 0.9, .model_accuracy = 0.8, .season = "24 steps"};
  expect_has(persistence_notes(report, "the 40 windows").at(0),
             "on 30 of the 40 windows that have such a forecast the model's accuracy, 0.8, is no better than "
             "that of the "
             "target 24 "
             "steps before, 0.9");
  EXPECT_TRUE(persistence_notes({.n = 40}, "").empty());
}

}  // namespace
}  // namespace slimbayes
