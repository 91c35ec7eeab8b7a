// Fits of a target within known bounds (FitOptions::bounds).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <boost/math/distributions/beta.hpp>
#include <cmath>

#include "slimbayes/answers/density.h"
#include "slimbayes/catalog/call_options.h"
#include "slimbayes/density/unit.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/model/model.h"
#include "slimbayes/model/row_predictor.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Rows of a beta-distributed share with the mean 1 / (1 + exp(0.45 b - 0.9 a)) and the sample size 3. Inputs
/// and probabilities are a sequence of evenly spread points (Roberts 2018).
Table shares(int64_t first, int64_t rows, double scale = 1) {
  const auto part = [](double factor, int64_t i) {
    const double x = factor * static_cast<double>(i);
    return x - std::floor(x);
  };
  std::vector<double> a, b, y;
  for (int64_t i = first; i < first + rows; ++i) {
    a.push_back(3 * part(0.8191725133961645, i) - 1.5);
    b.push_back(3 * part(0.6710436067037893, i) - 1.5);
    const double mean = 1 / (1 + std::exp(0.45 * b.back() - 0.9 * a.back()));
    const boost::math::beta_distribution<> share(3 * mean, 3 * (1 - mean));
    y.push_back(scale * boost::math::quantile(share, part(0.5497004779019703, i)));
  }
  return table_of({numbers("a", a), numbers("b", b), numbers("y", y)});
}

FitOptions fit_of(const std::string& method, const std::string& bounds) {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.bounds = bounds;
  fit.noise_folds = 0;
  if (method != "ridge")
    fit.options = {{"steps", 400}, {"rank", 16}, {"hidden", 16}, {"blocks", 1}, {"learning_rate", 0.01}};
  return fit;
}

bool lie_within(const at::Tensor& y, double low, double high) {
  return (y >= low).all().item<bool>() && (y <= high).all().item<bool>();
}

// By the margin 0.12; the same fits by hand, of log(y / (1 - y)), are better by 0.197 and 0.201.
TEST(FitWithinBounds, SharesHaveTheirCoverageAndABetterNll) {
  const Table table = shares(1, 800), fresh = shares(801, 2000);
  for (const char* method : {"ridge", "dbk"}) {
    const Model model = fit_model(table, fit_of(method, "0,1")), plain = fit_model(table, fit_of(method, ""));
    const Evaluation scores = model.evaluate(fresh), before = plain.evaluate(fresh);
    EXPECT_GT(scores.coverage.value(), 0.93) << method;
    EXPECT_LT(scores.coverage.value(), 0.97) << method;
    EXPECT_LT(scores.nll, before.nll - 0.12) << method;
    const Regression p = model.predict(fresh);
    const Interval range = model.interval(p, 0.999);
    for (const at::Tensor& y : {p.mean, median(p), range.lower, range.upper})
      EXPECT_TRUE(lie_within(y, 0, 1)) << method;
    EXPECT_FALSE(lie_within(plain.interval(plain.predict(fresh), 0.999).upper, 0, 1)) << method;
  }
}

// E[y] is the mean of the quantiles at evenly spread probabilities, but for the far tail
// of a target with one bound.
TEST(FitWithinBounds, TheMeanIsThatOfTheQuantiles) {
  const Table fresh = shares(801, 40);
  for (const char* bounds : {"0,1", "0,", ",1"}) {
    const Regression p = fit_model(shares(1, 200), fit_of("ridge", bounds)).predict(fresh);
    constexpr int kCount = 4000;
    at::Tensor mean = at::zeros_like(p.mean), square = at::zeros_like(p.mean);
    for (int i = 0; i < kCount; ++i) {
      const at::Tensor y = quantile(p, normal_quantile((i + 0.5) / kCount));
      mean += y / kCount;
      square += y.square() / kCount;
    }
    EXPECT_TRUE(at::allclose(mean, p.mean, 2e-2, 2e-3)) << bounds;
    if (std::string(bounds) == "0,1") {
      EXPECT_TRUE(at::allclose(square - mean.square(), total_var(p), 1e-2, 0));
    }
  }
}

TEST(FitWithinBounds, AModelOfItsFileAndARowAnswerTheSame) {
  const Table fresh = shares(801, 30, 4);
  for (const char* bounds : {"0,4", "-1,", ",5"}) {
    FitOptions fit = fit_of("ridge", bounds);
    fit.calibrate = "conformal";
    const Model model = fit_model(shares(1, 400, 4), fit), back = Model::from_file(model.to_file(), "m");
    const Regression p = model.predict(fresh), q = back.predict(fresh);
    EXPECT_TRUE(at::equal(p.mean, q.mean)) << bounds;
    EXPECT_EQ(back.fit_options().bounds, bounds);
    EXPECT_EQ(nlohmann::json::parse(model.to_file().metadata.at("serve")).at("version"),
              3);  // older readers refuse it
    const Interval range = model.interval(p, 0.9);
    EXPECT_TRUE(lie_within(range.lower, p.least, p.most) && lie_within(range.upper, p.least, p.most))
        << bounds;
    RowPredictor one(back);
    for (int64_t i = 0; i < fresh.rows; ++i) {
      const auto row = static_cast<size_t>(i);
      const std::vector<double> cells = {fresh.columns[0].values[row], fresh.columns[1].values[row]};
      const RowAnswer answer = one(cells);
      const RowInterval ends = one.interval(0.9);
      EXPECT_NEAR(answer.mean, p.mean[i].item<double>(), 1e-6) << bounds;
      EXPECT_NEAR(answer.aleatoric_var, p.aleatoric_var[i].item<double>(), 1e-5) << bounds;
      EXPECT_NEAR(answer.epistemic_var, p.epistemic_var[i].item<double>(), 1e-5) << bounds;
      EXPECT_NEAR(ends.lower, range.lower[i].item<double>(), 1e-5) << bounds;
      EXPECT_NEAR(ends.upper, range.upper[i].item<double>(), 1e-5) << bounds;
    }
  }
}

TEST(FitWithinBounds, AModelWithoutBoundsKeepsNothingOfThem) {
  const TensorFile file = fit_model(shares(1, 60), fit_of("ridge", "")).to_file();
  for (const auto& [name, text] : file.metadata)
    EXPECT_EQ(text.find("\"bounds\""), std::string::npos) << name;
}

TEST(FitWithinBounds, TargetsBeyondAreRefused) {
  Table table = shares(1, 80);
  const Model model = fit_model(table, fit_of("ridge", "0,1"));
  Table wrong = table;
  wrong.columns[2].values[7] = 1.25;
  expect_has(error_of([&] { fit_model(wrong, fit_of("ridge", "0,1")); }), "received 1.25");
  expect_has(error_of([&] { model.evaluate(wrong); }), "received 1.25; correct or remove the row");
  wrong.columns[2].values[7] = 1;
  expect_has(error_of([&] { fit_model(wrong, fit_of("ridge", "0,1")); }), "at a bound");
  expect_has(error_of([&] { model.evaluate(wrong); }), "the transform of the target is infinite");
  FitOptions counts = fit_of("", "0,1");
  counts.likelihood = LikelihoodKind::poisson;
  expect_has(error_of([&] { fit_model(table, counts); }), "expected a target of numbers for `.bounds`");
  expect_has(error_of([&] { fit_model(table, fit_of("auto", "0,")); }),
             "expected two bounds of a target for auto");
  FitOptions heavy = fit_of("dbk", "0,");
  heavy.likelihood = LikelihoodKind::student;
  expect_has(error_of([&] { fit_model(table, heavy); }), "two bounds of a target with `.likelihood=student`");
}

TEST(FitWithinBounds, ScoresAreOfTheTargetItself) {
  const Table table = shares(1, 120), fresh = shares(801, 100);
  const Model model = fit_model(table, fit_of("ridge", "0,1"));
  const Regression p = model.predict(fresh);
  const at::Tensor y = at::tensor(fresh.columns[2].values, at::kDouble);
  const Evaluation scores = model.evaluate(fresh);
  EXPECT_NEAR(scores.nll, regression_nll(p, y), 1e-12);
  const Interval range = model.interval(p, 0.95);
  const at::Tensor inside = (y >= range.lower).logical_and(y <= range.upper).to(at::kDouble);
  EXPECT_NEAR(scores.coverage.value(), inside.mean().item<double>(), 1e-12);
}

TEST(FitWithinBounds, AutoAnswersWithinThem) {
  FitOptions fit = fit_of("auto", "0,1");
  fit.options = {{"candidates", "constant,ridge"}};
  const Table fresh = shares(801, 200);
  const Model model = fit_model(shares(1, 150), fit);
  const Regression p = model.predict(fresh);
  for (const DensityComponent& c : p.density) EXPECT_EQ(c.warp, TargetWarp::logit);
  const Interval range = model.interval(p, 0.999);
  EXPECT_TRUE(lie_within(range.lower, 0, 1) && lie_within(range.upper, 0, 1));
  EXPECT_TRUE(std::isfinite(model.evaluate(fresh).nll));
  RowPredictor one(model);
  for (int64_t i = 0; i < 20; ++i) {
    const auto row = static_cast<size_t>(i);
    const RowAnswer answer = one(std::vector{fresh.columns[0].values[row], fresh.columns[1].values[row]});
    EXPECT_NEAR(answer.mean, p.mean[i].item<double>(), 1e-6);
    EXPECT_NEAR(answer.sd(), std::sqrt(total_var(p)[i].item<double>()), 1e-5);
    EXPECT_NEAR(one.interval(0.999).upper, range.upper[i].item<double>(), 1e-5);
  }
}

TEST(FitWithinBounds, AnUpdateLearnsTheTransform) {
  const Model model = fit_model(shares(1, 100), fit_of("dbk-exact", "0,1"));
  const Table more = shares(101, 100), fresh = shares(801, 50);
  const Regression p = model.with(more).predict(fresh), before = model.predict(fresh);
  EXPECT_TRUE(lie_within(p.mean, 0, 1));
  EXPECT_GT((p.mean - before.mean).abs().max().item<double>(), 1e-6);
  EXPECT_LT(p.epistemic_var.mean().item<double>(), before.epistemic_var.mean().item<double>());
}

}  // namespace
}  // namespace slimbayes
