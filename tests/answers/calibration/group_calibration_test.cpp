#include "slimbayes/answers/calibration/group_calibration.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "slimbayes/core/random.h"
#include "tests/core/row.h"

namespace slimbayes {
namespace {

std::vector<int64_t> each_its_own(int64_t m) {
  std::vector<int64_t> rows(static_cast<size_t>(m));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// 60 calibration rows with the scores 0.5 to 59.5, out of order: 40 of A, 18 of B, two without a cell.
struct Calibrated {
  std::vector<GroupCell> cells;
  std::vector<double> score;
  ConformalScores all;
  GroupCalibration groups;

  explicit Calibrated(const std::vector<int64_t>& inputs = each_its_own(60), const at::Tensor& weight = {}) {
    for (int64_t i = 0; i < 60; ++i) {
      const int64_t kind = i % 30;
      cells.push_back(kind == 29 ? GroupCell() : kind % 3 == 2 ? GroupCell("B") : GroupCell("A"));
      score.push_back(static_cast<double>(37 * i % 60) + 0.5);
    }
    const at::Tensor raw = row(score);
    all = sorted_scores(
        raw, inputs,
        weight.defined() ? conformal_weights(weight, inputs, ConformalWeight::importance) : at::Tensor());
    groups = group_calibration(cells, sorted_scores(raw, each_its_own(60)).group, inputs, weight);
  }

  /// The rows of one group as a calibration of their own.
  ConformalScores alone(const GroupCell& cell, const std::vector<int64_t>& inputs,
                        const at::Tensor& weight = {}) const {
    std::vector<double> own, weights;
    std::vector<int64_t> alike;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != cell) continue;
      own.push_back(score[i]);
      alike.push_back(inputs[i]);
      if (weight.defined()) weights.push_back(weight[static_cast<int64_t>(i)].item<double>());
    }
    return sorted_scores(row(own), alike,
                         weight.defined()
                             ? conformal_weights(row(weights), alike, ConformalWeight::importance)
                             : at::Tensor());
  }
};

TEST(GroupCalibration, AGroupHasTheFactorOfItsOwnScores) {
  const Calibrated c;
  ASSERT_EQ(c.groups.cells, (std::vector<GroupCell>{std::nullopt, "A", "B"}));
  for (const int64_t g : {1, 2}) {
    const ConformalScores own = scores_of_group(c.all, c.groups, g),
                          alone = c.alone(c.groups.cells[static_cast<size_t>(g)], each_its_own(60));
    EXPECT_TRUE(at::equal(own.value, alone.value)) << g;
    EXPECT_EQ(conformal_factor(own, 0.8), conformal_factor(alone, 0.8)) << g;
  }
}

TEST(GroupCalibration, SmallGroupsAndUnseenCellsShareAllScores) {
  const Calibrated c;
  const std::vector<int64_t> group = groups_of_cells(c.groups, {"A", "B", std::nullopt, "C"});
  ASSERT_EQ(group, (std::vector<int64_t>{1, 2, 0, -1}));
  const Regression p{row({0, 10, 20, 30}), row({1, 1, 4, 1}), row({0, 0, 0, 0})};
  for (const double level : {0.8, 0.96}) {  // 0.96 needs 24 rows, so that B shares too
    const Interval ends = group_interval(p, group, c.all, c.groups, level),
                   by_all = conformal_interval(p, c.all, level),
                   by_a = conformal_interval(p, scores_of_group(c.all, c.groups, 1), level);
    EXPECT_EQ(ends.upper[0].item<double>(), by_a.upper[0].item<double>());
    for (const int64_t i : {2, 3}) {
      EXPECT_EQ(ends.lower[i].item<double>(), by_all.lower[i].item<double>());
      EXPECT_EQ(ends.upper[i].item<double>(), by_all.upper[i].item<double>());
    }
    const bool shares = ends.upper[1].item<double>() == by_all.upper[1].item<double>();
    EXPECT_EQ(shares, level == 0.96);
  }
  EXPECT_THROW(group_interval(p, {1, 2}, c.all, c.groups, 0.8), std::invalid_argument);
  EXPECT_THROW(group_interval(p, group, c.all, c.groups, 0.99), std::invalid_argument);
}

TEST(GroupCalibration, SetsAreThoseOfTheGroup) {
  ConformalScores all(row({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.95, 0.96, 0.97, 0.98}));
  const std::vector<GroupCell> cells{"a", "a", "a", "a", "a", "b", "b", "b", "b", "b"};
  const GroupCalibration groups = group_calibration(cells, all.group, each_its_own(10));
  const Classes p{at::tensor({0.7, 0.2, 0.1, 0.7, 0.2, 0.1}, at::kDouble).view({2, 3}), row({0.8, 0.8}),
                  row({0.8, 0.8})};
  const PredictionSet set = group_set(p, {}, {0, 1}, all, groups, 0.8);
  EXPECT_EQ(set[0].sum().item<int64_t>(), 1);
  EXPECT_EQ(set[1].sum().item<int64_t>(), 3);
  const at::Tensor u = row({0.5, 0.5});
  EXPECT_TRUE(at::equal(group_set(p, u, {0, 1}, all, groups, 0.8)[1],
                        prediction_set(p, u, scores_of_group(all, groups, 1), 0.8)[1]));
}

TEST(GroupCalibration, IdenticalInputsAndWeightsCountWithinAGroup) {
  std::vector<int64_t> inputs = each_its_own(60);
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] /= 2;
  const at::Tensor weight = Stream(3).split("w").uniform({60}) + 0.2;
  for (const at::Tensor& given : {at::Tensor(), weight}) {
    const Calibrated c(inputs, given);
    const ConformalScores own = scores_of_group(c.all, c.groups, 1), alone = c.alone("A", inputs, given);
    EXPECT_EQ(own.groups, alone.groups);
    EXPECT_EQ(own.units(), alone.units());
    for (const double level : {0.3, 0.5, 0.8})
      EXPECT_EQ(conformal_factor(own, level), conformal_factor(alone, level)) << level;
  }
}

}  // namespace
}  // namespace slimbayes
