// Mondrian conformal calibration: a quantile of the scores for each group of rows.
//
// Problem     Conformal intervals hold their level on average over all rows. If the sd of the model is too
//             small in one group and too large in another, one group is covered too often and the other too
//             seldom, and the average does not show it.
// Method      Take the quantile among the scores of the calibration rows of the same group alone. Given that
//             group, the new row is exchangeable with them, so that the level holds within each group (Vovk,
//             Gammerman and Shafer 2005, section 4.5; Romano, Barber, Sabatti and Candes 2020, With malice
//             toward none: assessing uncertainty via equalized coverage). The group must be a function of the
//             row that is known before its target.
// Few rows    A group with fewer rows than a finite interval of the level needs takes the quantile of all
//             calibration rows, not that of the small groups alone: they may be too few together as well.
// This             quantile holds the level on average over rows of all groups, so the small groups may have
// less.
// Weights     Weights of importance are divided by their mean over a calibration's rows. Each group is a
//             calibration of its own, so it has its own mean.
// Cost        O(m) for each group that some row asks for.
#include "slimbayes/answers/calibration/group_calibration.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

at::Tensor places_of_rows(const std::vector<int64_t>& rows) { return at::tensor(rows, at::kLong); }

/// Calls `answer(rows, scores)` once for all rows of each group that has enough scores, with its own scores,
/// and once for the other rows, if there are any, with all scores. `rows` [k] are their places.
template <class Answer>
void by_scores(const std::vector<int64_t>& group, const ConformalScores& all, const GroupCalibration& groups,
               double level, const Answer& answer) {
  std::map<int64_t, std::vector<int64_t>> rows;
  for (size_t i = 0; i < group.size(); ++i) rows[group[i]].push_back(static_cast<int64_t>(i));
  std::vector<int64_t> others;
  for (const auto& [number, own] : rows) {
    if (number >= 0) {
      if (const ConformalScores scores = scores_of_group(all, groups, number); suffices(scores, level)) {
        answer(places_of_rows(own), scores);
        continue;
      }
    }
    others.insert(others.end(), own.begin(), own.end());
  }
  if (others.empty() && !group.empty()) return;
  std::ranges::sort(others);
  answer(places_of_rows(others), all);
}

}  // namespace

GroupCalibration group_calibration(const std::vector<GroupCell>& cells, const at::Tensor& order,
                                   const std::vector<int64_t>& inputs, const at::Tensor& weight,
                                   ConformalWeight kind) {
  constexpr const char* kFunction = "group_calibration";
  const auto m = std::ssize(cells);
  check(m > 0, kFunction, "at least one calibration row", "none");
  check_shape(order, {m}, kFunction, "order");
  check(std::ssize(inputs) == m, kFunction, "a group of identical inputs for each row", "another number");
  std::map<GroupCell, std::vector<int64_t>> rows;
  for (size_t i = 0; i < cells.size(); ++i) rows[cells[i]].push_back(static_cast<int64_t>(i));
  GroupCalibration out;
  at::Tensor of = at::empty({m}, at::kLong);
  at::Tensor weights = weight.defined() ? at::empty({m}, at::kDouble) : at::Tensor();
  for (const auto& [cell, own] : rows) {
    const at::Tensor places = places_of_rows(own);
    of.index_fill_(0, places, std::ssize(out.cells));
    out.cells.push_back(cell);
    if (!weight.defined()) continue;
    std::vector<int64_t> alike;
    for (const int64_t row : own) alike.push_back(inputs[static_cast<size_t>(row)]);
    weights.index_copy_(0, places, conformal_weights(weight.index_select(0, places), alike, kind));
  }
  out.of = of.index_select(0, order);
  if (weight.defined()) out.weight = weights.index_select(0, order);
  return out;
}

std::vector<int64_t> groups_of_cells(const GroupCalibration& groups, const std::vector<GroupCell>& cells) {
  std::vector<int64_t> out;
  out.reserve(cells.size());
  for (const GroupCell& cell : cells) {
    const auto found = std::ranges::lower_bound(groups.cells, cell);
    out.push_back(found != groups.cells.end() && *found == cell ? found - groups.cells.begin() : -1);
  }
  return out;
}

Interval group_interval(const Regression& p, const std::vector<int64_t>& group, const ConformalScores& all,
                        const GroupCalibration& groups, double level) {
  check_shape(p.mean, {std::ssize(group)}, "group_interval", "mean");
  const Predictive rows = p;
  Interval out{at::empty_like(p.mean), at::empty_like(p.mean)};
  by_scores(group, all, groups, level, [&](const at::Tensor& places, const ConformalScores& scores) {
    const Interval own = conformal_interval(std::get<Regression>(take(rows, places)), scores, level);
    out.lower.index_copy_(0, places, own.lower);
    out.upper.index_copy_(0, places, own.upper);
  });
  return out;
}

PredictionSet group_set(const Classes& p, const at::Tensor& u, const std::vector<int64_t>& group,
                        const ConformalScores& all, const GroupCalibration& groups, double level) {
  check(p.probabilities.size(0) == std::ssize(group), "group_set", "a group for each row", "another number");
  const Predictive rows = p;
  PredictionSet out = at::zeros(p.probabilities.sizes(), at::kBool);
  by_scores(group, all, groups, level, [&](const at::Tensor& places, const ConformalScores& scores) {
    const auto own = std::get<Classes>(take(rows, places));
    out.index_copy_(0, places,
                    u.defined() ? prediction_set(own, u.index_select(0, places), scores, level)
                                : deterministic_set(own, scores, level));
  });
  return out;
}

}  // namespace slimbayes
