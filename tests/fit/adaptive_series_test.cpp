#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "slimbayes/answers/calibration/adaptive_conformal.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/series/adaptive_state.h"
#include "slimbayes/model/update_notes.h"
#include "slimbayes/serve/serve_file.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

constexpr int64_t kQuiet = 400, kRowsOfSeries = 1000, kWindow = 6;

/// A series that follows its past and x. After kQuiet rows its noise is 2.5 times as large.
Table noisier_series() {
  const at::Tensor noise = Stream(3).normal({kRowsOfSeries});
  std::vector<double> time, x, y;
  double last = 0;
  for (int64_t t = 0; t < kRowsOfSeries; ++t) {
    time.push_back(static_cast<double>(t));
    x.push_back(std::sin(0.2 * static_cast<double>(t)));
    last = 0.5 * last + x.back() + (t < kQuiet ? 0.3 : 0.75) * noise[t].item<double>();
    y.push_back(last);
  }
  return table_of({numbers("t", time), numbers("x", x), numbers("y", y)});
}

Table rows_between(const Table& all, int64_t from, int64_t to) {
  std::vector<int64_t> rows;
  for (int64_t i = from; i < to; ++i) rows.push_back(i);
  return std::get<Table>(take(Examples(all), rows));
}

FitOptions fit_of_series(const std::string& calibrate, const std::string& method = "dnn") {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.window = kWindow;
  fit.time = {"t"};
  fit.options = {{"steps", 200}, {"hidden", 16}, {"blocks", 1}};
  fit.calibrate = calibrate;
  fit.level = 0.9;
  return fit;
}

Model fitted_series(const std::string& calibrate, const std::string& method = "dnn") {
  return fit_model(rows_between(noisier_series(), 0, kQuiet), fit_of_series(calibrate, method));
}

/// The number of targets that the 90 % intervals of the model hold.
int64_t held(const Model& model, const Table& rows) {
  const Examples windows = model.examples(rows, true);
  const Regression p = model.predict(windows);
  const at::Tensor y = target_as_given(model.encoder(), windows);
  const Interval range = model.interval(p, 0.9);
  return ((y >= range.lower) & (y <= range.upper)).sum().item<int64_t>();
}

TEST(AdaptiveSeries, HoldsTheLevelWhereTheNoiseGrowsAndConformalDoesNot) {
  const Table all = noisier_series(), later = rows_between(all, kQuiet - kWindow, kRowsOfSeries);
  const Model fixed = fitted_series("conformal");
  Model adaptive = fitted_series("adaptive");
  constexpr auto kLater = static_cast<double>(kRowsOfSeries - kQuiet);
  EXPECT_LT(static_cast<double>(held(fixed, later)) / kLater, 0.75);
  const Evaluation before = adaptive.evaluate(later, 0.9);
  EXPECT_NEAR(before.coverage_online.value(), 0.9, 0.04);
  EXPECT_LT(before.coverage.value(), before.coverage_online.value() - 0.05);  // by the state of the fit
  EXPECT_FALSE(fixed.evaluate(later, 0.9).coverage_online);
  const Model once = adaptive.with(later);
  int64_t inside = 0;
  constexpr int64_t kPart = 5;
  for (int64_t t = kQuiet; t < kRowsOfSeries; t += kPart) {
    const Table part = rows_between(all, t - kWindow, t + kPart);
    inside += held(adaptive, part);
    adaptive = adaptive.with(part);
  }
  EXPECT_NEAR(static_cast<double>(inside) / kLater, 0.9, 0.04);
  // In parts as at once.
  const AdaptiveScores &a = adaptive.parts().adaptive.value(), &b = once.parts().adaptive.value();
  EXPECT_EQ(a.seen, b.seen);
  EXPECT_EQ(a.seen, fixed.calibration().value.size(0) + kRowsOfSeries - kQuiet);
  EXPECT_TRUE(at::allclose(at::tensor(a.scores, at::kDouble), at::tensor(b.scores, at::kDouble), 1e-5, 1e-4));
}

TEST(AdaptiveSeries, BeginsWithTheCalibrationWindowsInTheOrderOfTime) {
  const Model model = fitted_series("adaptive"), fixed = fitted_series("conformal");
  const AdaptiveScores& state = model.parts().adaptive.value();
  const at::Tensor scores = at::tensor(state.scores, at::kDouble);
  EXPECT_TRUE(at::allclose(std::get<0>(scores.sort()), fixed.calibration().value, 1e-5, 1e-4));
  EXPECT_FALSE(at::allclose(scores, fixed.calibration().value, 1e-5, 1e-4));
  const Table quiet = rows_between(noisier_series(), 0, kQuiet);
  const Examples part = take(model.examples(quiet, true), model.split().calibration);
  const Regression p = model.predict(part);
  EXPECT_TRUE(at::allclose(unsorted_scores(p, target_as_given(model.encoder(), part)), scores, 1e-5, 1e-4));
  const Interval range = model.interval(p, 0.8);
  EXPECT_TRUE(at::equal(range.upper, adaptive_interval(p, state, 0.8).upper));
  // Whatever the order of the windows.
  std::vector<int64_t> reversed(model.split().calibration.rbegin(), model.split().calibration.rend());
  EXPECT_TRUE(at::allclose(
      at::tensor(scores_in_time(model, take(model.examples(quiet, true), reversed)), at::kDouble), scores,
      1e-5, 1e-4));
}

TEST(AdaptiveSeries, APosteriorThatLearnsDoesSoTooAndOthersSayThatTheyDoNot) {
  const Table later = rows_between(noisier_series(), kQuiet - kWindow, kQuiet + 50);
  const Model bll = fitted_series("adaptive", "bll"), more = bll.with(later);
  EXPECT_EQ(more.fitted().summary().rows, bll.fitted().summary().rows + 50);
  EXPECT_EQ(more.parts().adaptive->seen, bll.parts().adaptive->seen + 50);
  EXPECT_EQ(more.parts().adaptive->scores,
            advanced(*bll.parts().adaptive, scores_in_time(bll, bll.examples(later, true)))
                .scores);  // by the answers before it learned
  const Model dnn = fitted_series("adaptive"), followed = dnn.with(later);
  EXPECT_EQ(followed.parts().adaptive->seen, dnn.parts().adaptive->seen + 50);
  EXPECT_EQ(followed.data_hash(), dnn.data_hash());
  EXPECT_TRUE(at::equal(followed.predict(later).mean, dnn.predict(later).mean));
  expect_has(update_notes(dnn, later).back(), "only the adaptive intervals follow them");
  for (const std::string& note : update_notes(bll, later)) {
    EXPECT_EQ(note.find("adaptive"), std::string::npos) << note;
  }
  expect_has(error_of([&] { bll.without(later); }), "without `.calibrate=adaptive`");
  expect_has(error_of([&] { bll.shard(later); }), "without `.calibrate=adaptive`");
  expect_has(error_of([&] { bll.merged(more); }), "without conformal calibration");
}

TEST(AdaptiveSeries, TheModelFileKeepsTheState) {
  const Table later = rows_between(noisier_series(), kQuiet - kWindow, kQuiet + 50);
  const Model model = fitted_series("adaptive").with(later);
  const TensorFile file = model.to_file();
  const Model loaded = Model::from_file(file, "m");
  EXPECT_EQ(loaded.parts().adaptive->scores, model.parts().adaptive->scores);
  EXPECT_EQ(loaded.parts().adaptive->seen, model.parts().adaptive->seen);
  EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  EXPECT_FALSE(fitted_series("conformal").to_file().tensors.contains("adaptive.scores"));
  expect_has(error_of([&] { served_file(file); }), "adaptive intervals");
  TensorFile damaged = file;
  damaged.metadata["calibration"] = R"({"method":"adaptive","rows":39,"seen":3,"kept":3})";
  expect_has(error_of([&] { Model::from_file(damaged, "m"); }), "adaptive");
}

TEST(AdaptiveSeries, OnlyNumbersOfWindowsWithoutWeightsHaveThem) {
  FitOptions fit = fit_of_series("adaptive");
  const Table quiet = rows_between(noisier_series(), 0, kQuiet);
  fit.window = 0;
  fit.time.clear();
  expect_has(error_of([&] { fit_model(quiet, fit); }), "windows of a time series for `.calibrate=adaptive`");
  fit = fit_of_series("adaptive");
  fit.weights = "x";
  expect_has(error_of([&] { fit_model(quiet, fit); }), "no weights for `.calibrate=adaptive`");
  fit = fit_of_series("adaptive");
  fit.likelihood = LikelihoodKind::poisson;
  expect_has(error_of([&] { fit_model(quiet, fit); }), "a target of numbers for `.calibrate=adaptive`");
}

}  // namespace
}  // namespace slimbayes
