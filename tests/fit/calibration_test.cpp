#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/metrics.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/data/synthetic.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"
#include "tests/real_data.h"

namespace slimbayes {
namespace {

FitOptions quick(const std::string& method = "dnn") {
  FitOptions fit;
  fit.target = "y";
  fit.method = method;
  fit.options = {{"steps", 300}, {"hidden", 16}, {"blocks", 1}};
  fit.calibrate = "conformal";
  return fit;
}

FitOptions on_steps(const std::string& method = "dnn") {
  FitOptions fit = quick(method);
  fit.ignore = {"true_mean", "true_sd"};
  return fit;
}

at::Tensor column(const Table& table, const std::string& name) {
  return at::tensor(table.find(name)->values, at::kDouble);
}

TEST(Calibration, RowsTakeNoPartInTheFit) {
  Table table = generate("steps", 300, Stream(1)), other = table;
  Model model = fit_model(table, on_steps());
  const SplitRows& split = model.split();
  EXPECT_EQ(split.calibration.size(), 30u);
  std::set<int64_t> rest(split.train.begin(), split.train.end());
  rest.insert(split.valid.begin(), split.valid.end());
  rest.insert(split.test.begin(), split.test.end());
  for (int64_t row : split.calibration) EXPECT_FALSE(rest.contains(row));
  // Changing the targets of calibration rows changes the intervals, but neither means nor sds.
  for (Column& c : other.columns) {
    if (c.name != "y") continue;
    for (int64_t row : split.calibration) c.values[static_cast<size_t>(row)] += 5;
  }
  Model shifted = fit_model(other, on_steps());
  Regression p = model.predict(table), q = shifted.predict(table);
  EXPECT_TRUE(at::equal(p.mean, q.mean));
  EXPECT_TRUE(at::equal(total_var(p), total_var(q)));
  EXPECT_GT((shifted.interval(q, 0.8).upper - model.interval(p, 0.8).upper).min().item<double>(), 0);
}

TEST(Calibration, ScoresAreThoseOfTheDefinition) {
  Table table = generate("steps", 300, Stream(1));
  Model model = fit_model(table, on_steps());
  Table held_out = take_rows(table, model.split().calibration);
  at::Tensor scores = conformal_scores(model.predict(held_out), column(held_out, "y"));
  EXPECT_TRUE(at::allclose(model.calibration().value, scores, 1e-9, 0));
}

TEST(Calibration, SavedAndLoadedItIsTheSame) {
  Table table = generate("steps", 300, Stream(1));
  Model model = fit_model(table, on_steps());
  TensorFile file = model.to_file();
  Model loaded = Model::from_file(file, "m");
  EXPECT_TRUE(at::equal(loaded.calibration().value, model.calibration().value));
  EXPECT_EQ(loaded.split().calibration, model.split().calibration);
  EXPECT_EQ(fields_to_json(loaded.evaluate(table, 0.9)), fields_to_json(model.evaluate(table, 0.9)));
  EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  FitOptions plain = on_steps();
  plain.calibrate = "none";
  TensorFile bare = fit_model(table, plain).to_file();
  EXPECT_FALSE(bare.tensors.contains("calibration.scores"));
  EXPECT_FALSE(bare.metadata.contains("calibration"));
  EXPECT_EQ(Model::from_file(bare, "m").calibration().groups, 0);
  StoredTensor& scores = file.tensors["calibration.scores"];
  std::swap_ranges(scores.bytes.begin(), scores.bytes.begin() + 8, scores.bytes.end() - 8);
  EXPECT_THROW(Model::from_file(file, "m"), DataError);
}

TEST(Calibration, TooFewRowsAreRefusedBeforeTheFit) {
  Table table = generate("steps", 180, Stream(1));
  EXPECT_THROW(fit_model(table, on_steps()), std::invalid_argument);  // 18 rows, 19 needed
  FitOptions lower = on_steps();
  lower.level = 0.9;
  Model model = fit_model(table, lower);
  Regression p = model.predict(table);
  EXPECT_NO_THROW(model.interval(p, 0.9));
  EXPECT_THROW(model.interval(p, 0.95), std::invalid_argument);
  lower.calibrate = "platt";
  EXPECT_THROW(fit_model(table, lower), std::invalid_argument);
}

/// Returns three overlapping classes along x. The most probable class is right for about three rows in four.
Table overlapping(int64_t rows, uint64_t seed) {
  const at::Tensor x = 2 * Stream(seed).split("x").uniform({rows}) - 1;
  const at::Tensor noisy = x + 0.35 * Stream(seed).split("noise").normal({rows});
  Table table;
  table.rows = rows;
  table.columns = {{"x", ColumnKind::numeric, {}, {}},
                   {"y", ColumnKind::categorical, {}, {"low", "mid", "high"}}};
  for (int64_t i = 0; i < rows; ++i) {
    const double at = noisy[i].item<double>();
    table.columns[0].values.push_back(x[i].item<double>());
    table.columns[1].values.push_back(at < -0.3 ? 0 : at < 0.3 ? 1 : 2);
  }
  return table;
}

TEST(Calibration, OfClassesGivesSetsThatHoldTheirLevel) {
  FitOptions fit = quick("dnn");
  fit.calibration_fraction = 0.4;
  const Table fresh = overlapping(4000, 2);
  const Model model = fit_model(overlapping(2500, 1), fit);
  for (double level : {0.6, 0.8, 0.95}) {
    const Evaluation report = model.evaluate(fresh, level);
    // The sd of the coverage with 1,000 calibration rows and 4,000 fresh rows; the tolerance is five sds.
    const double sd = std::sqrt(level * (1 - level) * (1.0 / 1000 + 1.0 / 4000));
    EXPECT_NEAR(report.coverage.value(), level, 5 * sd);
  }
  const Answers whole = model.answers(fresh, {{0.8}});
  const Answers some = model.answers(take_rows(fresh, {7, 3}), {{0.8}});
  EXPECT_TRUE(at::equal(some.levels[0].set->select(0, 0),
                        whole.levels[0].set->select(0, 7)));  // the other rows do not matter
  EXPECT_TRUE(model.answers(fresh).levels.empty());
  const Model loaded = Model::from_file(model.to_file(), "m");
  EXPECT_TRUE(at::equal(*loaded.answers(fresh, {{0.8}}).levels[0].set, *whole.levels[0].set));
  fit.calibrate = "none";
  EXPECT_FALSE(fit_model(overlapping(300, 1), fit).answers(fresh, {{0.8}}).levels[0].set.has_value());
}

/// Returns 200 inputs with eight rows each, whose targets hardly differ.
Table eightfold() {
  const Stream stream = Stream(6).split("eightfold");
  const at::Tensor x = stream.split("x").normal({200, 2}), effect = stream.split("effect").normal({200}),
                   noise = 0.01 * stream.split("noise").normal({1600});
  Table table;
  table.rows = 1600;
  for (const char* name : {"a", "b", "y"}) table.columns.push_back({name, ColumnKind::numeric, {}, {}});
  for (int64_t row = 0; row < 1600; ++row) {
    const at::Tensor input = x[row / 8];
    table.columns[0].values.push_back(input[0].item<double>());
    table.columns[1].values.push_back(input[1].item<double>());
    table.columns[2].values.push_back((effect[row / 8] + noise[row]).item<double>());
  }
  return table;
}

// The 160 calibration rows have 20 different inputs: enough for a level of .95, not for .99.
TEST(Calibration, RowsOfOneInputCountOnce) {
  const Table table = eightfold();
  const Model model = fit_model(table, quick());
  EXPECT_EQ(model.calibration().groups, 20);
  EXPECT_EQ(model.calibration().value.size(0), 160);
  const Regression p = model.predict(table);
  EXPECT_NO_THROW(model.interval(p, 0.95));
  EXPECT_THROW(model.interval(p, 0.99), std::invalid_argument);
  FitOptions fit = quick();
  fit.level = 0.99;
  try {
    fit_model(table, fit);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("received 20 groups (160 rows)"), std::string::npos)
        << error.what();
  }
  fit.split = "random";  // the user asks for a split by rows, so rows count
  EXPECT_NO_THROW(fit_model(table, fit));

  TensorFile file = model.to_file();
  const Model loaded = Model::from_file(file, "m");
  EXPECT_EQ(loaded.calibration().groups, 20);
  EXPECT_TRUE(at::equal(loaded.interval(p, 0.9).upper, model.interval(p, 0.9).upper));
  EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  const std::vector<std::string> notes = fit_notes(model, std::nullopt, std::nullopt, 0.95);
  EXPECT_EQ(
      std::ranges::count_if(notes,
                            [](const std::string& note) {
                              return note.find("20 groups of identical inputs (160 calibration rows)") !=
                                     std::string::npos;
                            }),
      1);
  // In a file without groups every row counts as a group of its own.
  file.tensors.erase("calibration.groups");
  EXPECT_EQ(Model::from_file(file, "m").calibration().groups, 160);
  file.tensors["calibration.groups"] = to_stored(at::arange(3));
  EXPECT_THROW(Model::from_file(file, "m"), DataError);
}

// dnn has one noise variance for all rows, although the true noise varies. Its intervals are too wide in some
// places and too narrow in others, but over all rows the coverage is the level asked for.
TEST(Calibration, HoldsItsLevelOnHeteroscedasticRows) {
  Table table = generate("steps", 3000, Stream(4));
  FitOptions fit = on_steps();
  fit.calibration_fraction = 0.3;
  Model model = fit_model(table, fit);
  Table fresh = generate("steps", 20000, Stream(5));
  for (double level : {0.5, 0.8, 0.95}) {
    // The coverage is Beta(k, m + 1 - k), with an sd below sqrt(level (1 - level) / m). The fresh rows add
    // variance.
    double sd = std::sqrt(level * (1 - level) * (1.0 / 900 + 1.0 / 20000));
    EXPECT_NEAR(model.evaluate(fresh, level).coverage.value(), level, 4 * sd) << level;
  }
}

struct RealTable {
  const char* name;
  uint64_t splits;
};

class CalibrationReal : public testing::TestWithParam<RealTable> {};

TEST_P(CalibrationReal, CoversNinetyPercentWithinTwoPoints) {
  auto path = real_data(std::string(GetParam().name) + ".csv.gz");
  if (!path) return;
  Table table = read_table(*path);
  double sum = 0;
  for (uint64_t seed = 0; seed < GetParam().splits; ++seed) {
    FitOptions fit = quick();
    fit.split_seed = seed;
    fit.test_fraction = 0.3;
    fit.calibration_fraction = 0.2;
    Model model = fit_model(table, fit);
    sum += model.evaluate(take_rows(table, model.split().test), 0.9).coverage.value();
  }
  EXPECT_NEAR(sum / static_cast<double>(GetParam().splits), 0.9, 0.02);
}

// A small table has few calibration and test rows, so its mean takes more splits.
INSTANTIATE_TEST_SUITE_P(Tables, CalibrationReal,
                         testing::Values(RealTable{"concrete", 16}, RealTable{"power_plant", 4},
                                         RealTable{"kin8nm", 4}, RealTable{"elevators", 4}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slimbayes
