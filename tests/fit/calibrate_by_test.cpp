#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "slimbayes/core/random.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/fit/fit_model.h"
#include "slimbayes/fit/fit_notes.h"
#include "slimbayes/model/answer_table.h"
#include "slimbayes/model/row_predictor.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

/// Rows of y = x + noise, whose sd is 0.3 in region A, four fifths of them, and 1.5 in B. The `odd` rows
/// at the end are of region C.
Table two_regions(int64_t n, uint64_t seed, int64_t odd = 0) {
  const Stream stream(seed);
  std::vector<double> x, y;
  Column region{"region", ColumnKind::categorical, {}, {"A", "B", "C"}};
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(i);
    const bool wide = i % 5 == 0;
    x.push_back(stream.split("x").normal(at));
    y.push_back(x.back() + stream.split("y").normal(at) * (wide ? 1.5 : 0.3));
    region.values.push_back(i >= n - odd ? 2 : wide ? 1 : 0);
  }
  return table_of({numbers("x", x), region, numbers("y", y)});
}

FitOptions by_region() {
  FitOptions fit;
  fit.target = "y";
  fit.method = "ridge";
  fit.ignore = {"region"};
  fit.calibrate = "conformal";
  fit.calibrate_by = "region";
  fit.calibration_fraction = 0.4;
  fit.wild_cells = "keep";
  fit.level = 0.9;
  return fit;
}

/// The share of the rows of one region whose target lies in the interval of level 0.9.
double coverage_in(const Model& model, const Table& table, double region) {
  const Interval at = *model.answers(table, {{0.9}}).levels.front().interval;
  const at::Tensor y = at::tensor(table.find("y")->values, at::kDouble),
                   own = at::tensor(table.find("region")->values, at::kDouble) == region;
  const at::Tensor inside = (y >= at.lower) & (y <= at.upper);
  return (inside & own).sum().item<double>() / own.sum().item<double>();
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string all;
  for (const std::string& note : notes) all += note + "\n";
  return all;
}

TEST(CalibrateBy, HoldsTheLevelInEachGroup) {
  const Table table = two_regions(4000, 1), fresh = two_regions(4000, 2);
  FitOptions together = by_region();
  together.calibrate_by = "";
  const Model one = fit_model(table, together), each = fit_model(table, by_region());
  EXPECT_LT(coverage_in(one, fresh, 1), 0.75);
  EXPECT_GT(coverage_in(one, fresh, 0), 0.93);
  EXPECT_GT(coverage_in(each, fresh, 1), 0.85);
  EXPECT_GT(coverage_in(each, fresh, 0), 0.87);
  EXPECT_LT(coverage_in(each, fresh, 0), 0.93);
}

TEST(CalibrateBy, SavedAndLoadedGivesTheSameIntervals) {
  const Table table = two_regions(600, 1);
  const Model model = fit_model(table, by_region());
  const TensorFile file = model.to_file();
  const Model loaded = Model::from_file(file, "m");
  EXPECT_EQ(to_bytes(loaded.to_file()), to_bytes(file));
  const Interval at = *model.answers(table, {{0.8}}).levels.front().interval,
                 again = *loaded.answers(table, {{0.8}}).levels.front().interval;
  EXPECT_TRUE(at::equal(at.lower, again.lower) && at::equal(at.upper, again.upper));
  EXPECT_TRUE(loaded.reading().kinds.contains("region"));
}

TEST(CalibrateBy, WithoutItAFileIsAsBefore) {
  FitOptions fit = by_region();
  fit.calibrate_by = "";
  const TensorFile file = fit_model(two_regions(300, 1), fit).to_file();
  EXPECT_FALSE(file.tensors.contains("calibration.by"));
  EXPECT_EQ(file.metadata.at("fit").find("calibrate_by"), std::string::npos);
  EXPECT_EQ(file.metadata.at("calibration").find("\"by\""), std::string::npos);
}

TEST(CalibrateBy, SmallAndUnseenGroupsShareAndNotesSaySo) {
  const Table table = two_regions(600, 1, 10);
  const Model model = fit_model(table, by_region());
  const std::string noted = notes_text(fit_notes(model, {}, {}, 0.9));
  EXPECT_NE(noted.find("share the calibration of all rows"), std::string::npos) << noted;
  EXPECT_NE(noted.find("'C' ("), std::string::npos) << noted;
  Table fresh = two_regions(20, 3);
  Column& region = *std::ranges::find(fresh.columns, "region", &Column::name);
  region.levels = {"A", "B", "D"};
  region.values[0] = 2;
  region.values[1] = kMissing;
  const Answers a = model.answers(fresh, {{0.9}});
  const Interval by_all = conformal_interval(std::get<Regression>(a.answer), model.calibration(), 0.9);
  for (const int64_t i : {0, 1})
    EXPECT_EQ(a.levels.front().interval->upper[i].item<double>(), by_all.upper[i].item<double>());
  EXPECT_NE(a.levels.front().interval->upper[2].item<double>(), by_all.upper[2].item<double>());
  const std::string said = notes_text(answer_notes(model, fresh, a));
  EXPECT_NE(said.find("'D' (1 row)"), std::string::npos) << said;
  EXPECT_NE(said.find("missing (1 row)"), std::string::npos) << said;
}

TEST(CalibrateBy, NeedsItsColumn) {
  const Table table = two_regions(600, 1);
  const Model model = fit_model(table, by_region());
  Table without = table;
  std::erase_if(without.columns, [](const Column& c) { return c.name == "region"; });
  EXPECT_NO_THROW(model.answers(without));  // means and sds alone
  try {
    model.answers(without, {{0.9}});
    ADD_FAILURE() << "answered";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'region'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(model.interval(model.predict(table), 0.9), std::invalid_argument);
  EXPECT_THROW(RowPredictor{model}, std::invalid_argument);
  EXPECT_THROW(fit_model(without, by_region()), std::invalid_argument);
  FitOptions wrong = by_region();
  wrong.calibrate = "none";
  EXPECT_THROW(fit_model(table, wrong), std::invalid_argument);
  wrong = by_region();
  wrong.calibrate_by = "y";
  EXPECT_THROW(fit_model(table, wrong), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
