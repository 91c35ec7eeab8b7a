#include "slimbayes/fit/joint_fit.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/fit/target_fit.h"
#include "slimbayes/storage/error.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

namespace fs = std::filesystem;

/// Returns a table with the input x, the numbers a = x + e and b = 10 - 2 x + 3 f, whose errors e and f are
/// normal with the correlation .8, and the class c, which tells the sign of x but for a tenth of the rows.
Table correlated_targets(int64_t rows, uint64_t seed = 1) {
  const Stream stream(seed);
  std::vector<double> x, a, b, c;
  for (int64_t i = 0; i < rows; ++i) {
    const Stream row = stream.split(static_cast<uint64_t>(i));
    const double e = row.normal(1), f = 0.8 * e + 0.6 * row.normal(2);
    x.push_back(row.normal(0));
    a.push_back(x.back() + e);
    b.push_back(10 - 2 * x.back() + 3 * f);
    c.push_back((x.back() > 0) != (row.uniform(3) < 0.1) ? 1 : 0);
  }
  return table_of({numbers("x", x), numbers("a", a), numbers("b", b), categories("c", c, {"no", "yes"})});
}

JointRequest asking(const std::string& targets, const std::string& method = "ridge") {
  JointRequest request;
  request.fit.target = targets;
  request.fit.method = method;
  request.fit.valid_fraction = 0.3;
  return request;
}

JointOutcome fitted(const Table& table, const JointRequest& request) {
  Callback silent;
  return fit_joint(table, request, nullptr, {}, silent);
}

/// Fits a and b to 400 rows.
const JointModel& model_of_two() {
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  static const JointModel model = *fitted(correlated_targets(400), request).model;
  return model;
}

/// Returns what a fit of this request is refused with.
std::string joint_refusal(const JointRequest& request, const Table& table = correlated_targets(60)) {
  try {
    fitted(table, request);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(JointFit, FindsTheCorrelationOfTheErrorsAndGainsByIt) {
  const JointModel& model = model_of_two();
  EXPECT_EQ(model.targets(), (std::vector<std::string>{"a", "b"}));
  EXPECT_NEAR(model.correlation().matrix[0][1].item<double>(), 0.8, 0.15);
  EXPECT_EQ(model.correlation().rows, 120);
  const JointReport report = model.evaluate(correlated_targets(2000, 2), 0.9);
  ASSERT_TRUE(report.joint);
  EXPECT_EQ(report.joint->n, 2000);
  EXPECT_NEAR(report.joint->nll_gain, -0.5 * std::log(1 - 0.64), 0.1);
  EXPECT_GT(report.joint->energy_gain, 0);
  // The sd rests on 120 rows: a standard error of 6.5 %, which moves a coverage by .022.
  EXPECT_NEAR(report.joint->region_coverage.value(), 0.9, 0.07);
  EXPECT_NEAR(report.targets[0]->coverage.value(), 0.9, 0.07);
}

/// Expects of each model the bits of a fit of its target alone on the same rows with the same split.
void expect_as_alone(const JointRequest& request) {
  const Table table = correlated_targets(200);
  const JointModel model = *fitted(table, request).model;
  const SplitRows split = deal_targets(table, request.fit);
  for (size_t t = 0; t < model.models().size(); ++t) {
    FitOptions alone = request.fit;
    alone.target = model.targets()[t];
    for (const std::string& name : model.targets())
      if (name != alone.target) alone.ignore.push_back(name);
    ResolvedFit resolved = resolve_fit(table, alone);
    resolved.dealt = std::make_shared<const SplitRows>(split);
    Callback silent;
    const FitOutcome one = fit_in_memory(resolved, table, nullptr, {}, silent);
    const Predictive p = one.model->answer(table), q = model.models()[t].answer(table);
    ASSERT_EQ(p.index(), q.index());
    if (const auto* number = std::get_if<Regression>(&p)) {
      EXPECT_TRUE(at::equal(number->mean, std::get<Regression>(q).mean));
      EXPECT_TRUE(at::equal(total_var(*number), total_var(std::get<Regression>(q))));
    } else {
      EXPECT_TRUE(at::equal(std::get<Classes>(p).probabilities, std::get<Classes>(q).probabilities));
    }
  }
}

TEST(JointFit, FitsEachTargetAsAFitOfItAloneOnTheSameRows) {
  expect_as_alone(asking("a,b"));
  expect_as_alone(asking("a,b,c", "constant"));
}

TEST(JointFit, LearnsTheOtherTargetsOfARowWithAMissingCell) {
  const Table whole = correlated_targets(200);
  Table table = whole;
  for (size_t row = 0; row < 200; row += 2) table.columns[2].values[row] = kMissing;
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  const JointModel some = *fitted(table, request).model, all = *fitted(whole, request).model;
  const auto of_first = [&](const JointModel& model) {
    return std::get<Regression>(model.models()[0].answer(whole)).mean;
  };
  EXPECT_TRUE(at::equal(of_first(some), of_first(all)));
  EXPECT_EQ(some.parts().split.train, all.parts().split.train);
  EXPECT_LT(some.models()[1].split().train.size(), all.models()[1].split().train.size());
  EXPECT_LT(some.correlation().rows, all.correlation().rows);
  EXPECT_GT(some.correlation().rows, 10);
  const at::Tensor z = some.scores(table, some.answers(table));
  EXPECT_EQ(z.select(1, 1).isnan().sum().item<int64_t>(), 100);
  EXPECT_EQ(z.select(1, 0).isnan().sum().item<int64_t>(), 0);
  EXPECT_EQ(some.evaluate(table).targets[1]->n, 100);
}

TEST(JointFit, CalibratesTheRegionOnTheCompleteRows) {
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  request.fit.calibrate = "conformal";
  request.fit.calibration_fraction = 0.3;
  request.fit.level = 0.8;
  const Table table = correlated_targets(400);
  const JointModel model = *fitted(table, request).model;
  EXPECT_NEAR(model.parts().region.groups, 120, 1);
  const JointRegion region = model.region(model.answers(table), 0.8);
  EXPECT_TRUE(region.conformal);
  EXPECT_NEAR(model.evaluate(correlated_targets(2000, 3), 0.8).joint->region_coverage.value(), 0.8, 0.1);
}

TEST(JointFit, RefusesBadTargetsAndNamesThem) {
  expect_has(joint_refusal(asking("a,b,a")), "'a' twice");
  expect_has(joint_refusal(asking("a,z")), "target column 'z'");
  JointRequest ignored = asking("a,b");
  ignored.fit.ignore = {"b"};
  expect_has(joint_refusal(ignored), "`.ignore`");
  Table empty = correlated_targets(60);
  for (double& value : empty.columns[2].values) value = kMissing;
  expect_has(joint_refusal(asking("a,b"), empty), "target b: expected rows with a value");
  expect_has(joint_refusal(asking("a,c", "ridge")), "target c");
  JointRequest windows = asking("a,b");
  windows.fit.window = 3;
  expect_has(joint_refusal(windows), "inputs for several targets; received `.window`");
  JointRequest none = asking("a,b");
  none.fit.valid_fraction = 0;
  expect_has(joint_refusal(none), "held-out rows");
  expect_has(joint_refusal(asking("a")), "several columns");
}

TEST(JointFit, AColumnWhoseNameHasACommaIsOneTarget) {
  Table table = correlated_targets(60);
  table.columns[3].name = "a,b";
  EXPECT_EQ(targets_of(asking("a,b").fit, table), (std::vector<std::string>{"a,b"}));
  EXPECT_EQ(targets_of(asking("a, x").fit, table), (std::vector<std::string>{"a", "x"}));
}

TEST(JointFit, SeparateValidationRowsGiveTheCorrelation) {
  const Table table = correlated_targets(100), held_out = correlated_targets(300, 9);
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  Callback silent;
  const JointOutcome out = fit_joint(table, request, &held_out, {}, silent);
  EXPECT_EQ(out.model->correlation().rows, 300);
  EXPECT_EQ(out.model->parts().split.train.size(), 100u);
  EXPECT_NEAR(out.model->correlation().matrix[0][1].item<double>(), 0.8, 0.15);
  ASSERT_TRUE(out.valid && out.valid->joint);
  EXPECT_EQ(out.valid->joint->n, 300);
}

TEST(JointFit, LeavesRowsOfWeight0OutOfTheDealtParts) {
  Table table = correlated_targets(200);
  std::vector<double> weights(200, 1);
  for (size_t row = 0; row < 200; row += 5) weights[row] = 0;
  weights[1] = 3;
  table.columns.push_back(numbers("w", weights));
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  request.fit.weights = "w";
  std::vector<int64_t> counted;
  for (int64_t row = 0; row < 200; ++row)
    if (row % 5 != 0) counted.push_back(row);
  const JointOutcome all = fitted(table, request);
  expect_has(all.notes.front(), "40 of 200 rows have the weight 0 in 'w': left out");
  const JointModel model = *all.model, without = *fitted(take_rows(table, counted), request).model;
  for (const auto part : {&SplitRows::train, &SplitRows::valid}) {
    std::vector<int64_t> expected;
    for (const int64_t place : without.parts().split.*part)
      expected.push_back(counted[static_cast<size_t>(place)]);
    EXPECT_EQ(model.parts().split.*part, expected);
    for (size_t t = 0; t < 2; ++t)
      EXPECT_EQ(model.models()[t].split().*part, without.models()[t].split().*part);
  }
  EXPECT_TRUE(at::equal(model.correlation().matrix, without.correlation().matrix));
}

TEST(JointFit, AWeightedRegionIsKeptInTheFile) {
  Table table = correlated_targets(300);
  std::vector<double> weights;
  for (int64_t row = 0; row < table.rows; ++row) weights.push_back(static_cast<double>(1 + row % 4));
  table.columns.push_back(numbers("w", weights));
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  request.fit.weights = "w";
  request.fit.calibrate = "conformal";
  request.fit.calibration_fraction = 0.3;
  const JointModel model = *fitted(table, request).model, read = JointModel::from_file(model.to_file(), "m");
  ASSERT_TRUE(model.parts().region.weight.defined());
  EXPECT_TRUE(at::equal(read.parts().region.weight, model.parts().region.weight));
  const Examples fresh = correlated_targets(5, 3);
  EXPECT_EQ(read.region(read.answers(fresh), 0.9).factor, model.region(model.answers(fresh), 0.9).factor);
  request.fit.weights_are = "counts";
  request.fit.split = "random";  // each of the equal rows counts, as in the intervals of one target
  const JointModel counts = *fitted(table, request).model;
  EXPECT_GT(counts.parts().region.units(), counts.parts().region.groups);
}

TEST(JointFit, AWildRowOfSeparateValidationDataIsNotInTheCorrelation) {
  const Table table = correlated_targets(100);
  Table held_out = correlated_targets(300, 9);
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  std::vector<int64_t> others(299);
  std::iota(others.begin(), others.end(), 1);
  Callback silent;
  const Table without = take_rows(held_out, others);
  const JointOutcome clean = fit_joint(table, request, &without, {}, silent);
  held_out.columns[1].values[0] = 1e9;
  ASSERT_EQ(held_out.columns[1].name, "a");
  const JointOutcome out = fit_joint(table, request, &held_out, {}, silent);
  EXPECT_EQ(out.model->correlation().rows, 299);
  EXPECT_NEAR(out.model->correlation().matrix[0][1].item<double>(),
              clean.model->correlation().matrix[0][1].item<double>(), 0.01);
}

TEST(JointFit, ATargetHasItsShareOfTheTimeThatIsLeft) {
  struct Limited : Callback {
    double seconds_left() const override { return 1000; }
  } limited;
  const TargetCallback first(limited, "a", 4), last(limited, "b", 1);
  EXPECT_NEAR(first.seconds_left(), 250, 50);
  EXPECT_NEAR(last.seconds_left(), 1000, 200);
}

/// Ends a fit as a kill does where its second target begins, and keeps the notes.
struct KilledAtTheSecond : Callback {
  bool kills = true;
  std::vector<std::string> notes = {};
  void stage(const std::string& name) override {
    if (kills && name.starts_with("target 2 of 2")) throw std::runtime_error("killed");
  }
  void note(const std::string& sentence) override { notes.push_back(sentence); }
};

TEST(JointFit, GoesOnAfterAKillWithoutFittingAFinishedTargetAgain) {
  const fs::path folder = fs::path(testing::TempDir()) / "joint_fit";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const fs::path path = folder / "joint.safetensors", part = path.string() + ".target-1";
  const Table table = correlated_targets(400);
  JointRequest request = asking("a,b");
  request.fit.ignore = {"c"};
  KilledAtTheSecond callback;
  const auto fit = [&](bool resume) {
    return fit_joint(FitFile(path, resume), table, request, nullptr, {}, callback);
  };
  EXPECT_THROW(fit(false), std::runtime_error);
  EXPECT_TRUE(fs::exists(part));
  EXPECT_FALSE(fs::exists(path));
  callback.kills = false;
  const JointOutcome out = fit(true);
  EXPECT_EQ(
      std::ranges::count_if(callback.notes,
                            [](const auto& note) { return note.find("is finished already") != note.npos; }),
      1);
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(at::equal(out.model->correlation().matrix, model_of_two().correlation().matrix));
  const JointModel loaded = JointModel::load(path);
  EXPECT_TRUE(
      at::equal(loaded.models()[1].predict(table).mean, model_of_two().models()[1].predict(table).mean));
  callback.notes.clear();
  fit(true);
  expect_has(callback.notes.back(), "finished already");
  request.fit.seed = 7;
  EXPECT_THROW(fit(true), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
