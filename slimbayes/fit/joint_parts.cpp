#include "slimbayes/fit/joint_parts.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "slimbayes/answers/joint/error_correlation.h"
#include "slimbayes/answers/joint/region.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/table/cell.h"
#include "slimbayes/density/conformal_rank.h"
#include "slimbayes/fit/fit_split.h"
#include "slimbayes/fit/left_out.h"
#include "slimbayes/fit/target_fit.h"
#include "slimbayes/model/model_weights.h"

namespace slimbayes {

namespace {

using Rows = std::vector<int64_t>;

/// Returns these places of a target's rows as rows of the whole table.
void add_rows(Rows& to, const KnownRows& known, const Rows& places) {
  for (const int64_t place : places) to.push_back(known.places.at(static_cast<size_t>(place)));
}

/// The rows of a table, ascending, whose errors a model has held out, for each scored target.
struct HeldOut {
  std::vector<Rows> of_target;
  Rows any;  // rows that are held out for at least one target
};

/// Returns the rows of these parts of the models' own splits. They are fewer than those that were dealt where
/// rows with wrong cells were left out.
HeldOut held_out(const JointModel& model, const Table& table, const std::vector<Rows SplitRows::*>& parts) {
  HeldOut out;
  for (const size_t t : model.scored()) {
    const Model& one = model.models()[t];
    const KnownRows known = known_rows(table, one.target());
    Rows rows;
    for (const auto part : parts) add_rows(rows, known, one.split().*part);
    std::ranges::sort(rows);
    out.any.insert(out.any.end(), rows.begin(), rows.end());
    out.of_target.push_back(std::move(rows));
  }
  std::ranges::sort(out.any);
  out.any.erase(std::unique(out.any.begin(), out.any.end()), out.any.end());
  return out;
}

/// The normal scores of rows of a table: [m, k], NaN where a target is unknown or not held out.
struct HeldOutScores {
  at::Tensor z;
  Rows rows;          // [m] of the table
  at::Tensor weight;  // [m]; undefined if each row counts once
};

/// Returns the weights of these rows of a table; undefined if each counts once.
at::Tensor weights_at(const JointModel& model, const Table& table, const Rows& rows) {
  const at::Tensor all = scored_weights(Examples(table), model.models().front().fit_options());
  return all.defined() ? all.index_select(0, at::tensor(rows, at::kLong)) : all;
}

HeldOutScores held_out_scores(const JointModel& model, const Table& table, const HeldOut& held) {
  const auto k = std::ssize(model.scored());
  HeldOutScores out{at::zeros({0, k}, at::kDouble), {}, {}};
  if (held.any.empty()) return out;
  const Table rows = take_rows(table, held.any);
  const JointAnswers answers = model.answers(Examples(rows));
  out.z = model.scores(rows, answers);
  for (const int64_t place : answers.rows) out.rows.push_back(held.any[static_cast<size_t>(place)]);
  out.weight = weights_at(model, table, out.rows);
  for (int64_t j = 0; j < k; ++j) {
    const Rows& own = held.of_target[static_cast<size_t>(j)];
    for (size_t i = 0; i < out.rows.size(); ++i)
      if (!std::ranges::binary_search(own, out.rows[i])) out.z[static_cast<int64_t>(i)][j] = kMissing;
  }
  return out;
}

/// Returns the scores of the region of the calibration rows in which all targets are known; none if they are
/// too few for the level of the fit.
ConformalScores region_of(const JointModel& model, const Table& table, const FitOptions& fit,
                          std::vector<std::string>& notes) {
  const HeldOut held = held_out(model, table, {&SplitRows::calibration});
  const HeldOutScores scores = held_out_scores(model, table, held);
  const at::Tensor complete = scores.z.isnan().any(1).logical_not().nonzero().squeeze(1);
  Rows rows;
  for (int64_t i = 0; i < complete.numel(); ++i)
    rows.push_back(scores.rows[static_cast<size_t>(complete[i].item<int64_t>())]);
  ConformalScores region;
  if (!rows.empty()) {
    const RowGroups all = groups_of(Examples(table), options_of_target(fit, model.targets(), 0));
    const std::vector<int64_t> groups = groups_among(all, rows);
    at::Tensor weight = scores.weight;
    if (weight.defined())
      weight = conformal_weights(weight.index_select(0, complete), groups,
                                 conformal_weight_of(fit, counts_inputs_once(fit, all, groups)));
    region = sorted_scores(region_scores(scores.z.index_select(0, complete)), groups, weight);
  }
  if (region.groups > 0 && conformal_rank(region.units(), fit.level) <= region.units()) return region;
  notes.push_back(fmt::format(
      "the joint regions are not calibrated: {} calibration rows with all targets are too few for the level "
      "{:g}; `.calibration_fraction` gives more",
      rows.size(), fit.level));
  return {};
}

/// Returns the normal scores of separate validation data: [m, k], NaN where a target is unknown or its fit
/// left the row out.
at::Tensor held_out_of(const JointModel& model, const Table& valid, const JointAnswers& answers,
                       const FitOptions& fit) {
  at::Tensor z = model.scores(valid, answers);
  for (size_t j = 0; j < model.scored().size(); ++j) {
    const Rows own = own_valid_rows(valid, options_of_target(fit, model.targets(), model.scored()[j]));
    for (size_t i = 0; i < answers.rows.size(); ++i)
      if (!std::ranges::binary_search(own, answers.rows[i]))
        z[static_cast<int64_t>(i)][static_cast<int64_t>(j)] = kMissing;
  }
  return z;
}

/// Returns the correlation of the held-out errors: of the validation and calibration rows of the table, and
/// of separate validation data.
ErrorCorrelation correlation_of(const JointModel& model, const Table& table, const FitOptions& fit,
                                const Table* valid) {
  const HeldOut held = held_out(model, table, {&SplitRows::valid, &SplitRows::calibration});
  HeldOutScores scores = held_out_scores(model, table, held);
  if (valid != nullptr) {
    const JointAnswers answers = model.answers(Examples(*valid));
    const at::Tensor more = weights_at(model, *valid, answers.rows);
    const auto ones = [](const at::Tensor& weight, int64_t m) {
      return weight.defined() ? weight : at::ones({m}, at::kDouble);
    };
    if (scores.weight.defined() || more.defined())
      scores.weight = at::cat({ones(scores.weight, scores.z.size(0)), ones(more, std::ssize(answers.rows))});
    scores.z = at::cat({scores.z, held_out_of(model, *valid, answers, fit)});
  }
  return error_correlation(scores.z, scores.weight);
}

}  // namespace

JointModel joint_model(std::vector<Model> models, const Table& table, const FitOptions& fit,
                       const Table* valid, const SplitRows& split, std::vector<std::string>& notes) {
  const auto k = std::ranges::count_if(models, [](const Model& one) {
    return one.schema().task.kind == TaskKind::regression || one.schema().task.kind == TaskKind::counts;
  });
  JointParts parts;
  parts.models = std::move(models);
  parts.correlation = {at::eye(k, at::kDouble), 1, 0, 0};
  parts.split = split;
  parts.data_hash = hash_of(Examples(table));
  const JointModel apart(parts);
  if (k < 2) {
    notes.push_back(fmt::format("{} of the targets is a number or a count: none is correlated with another",
                                k == 0 ? "none" : "only one"));
  } else {
    parts.correlation = correlation_of(apart, table, fit, valid);
    if (parts.correlation.rows < kLeastPairRows)
      notes.push_back(fmt::format("the targets count as independent: two of them are known in only {}",
                                  counted(parts.correlation.rows, "held-out row")));
  }
  if (k > 0 && fit.calibrate == "conformal") parts.region = region_of(apart, table, fit, notes);
  return JointModel(std::move(parts));
}

}  // namespace slimbayes
