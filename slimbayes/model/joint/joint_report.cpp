// The metrics of a model of several targets.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/joint/copula.h"
#include "slimbayes/answers/joint/joint_scores.h"
#include "slimbayes/core/check.h"
#include "slimbayes/data/fit_examples.h"
#include "slimbayes/encoding/target_cells.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/joint/marginal.h"

namespace slimbayes {

namespace {

constexpr int64_t kMostScoredRows = 5000, kScoredDraws = 50;
constexpr uint64_t kDrawsSeed = 0;  // of the draws of the energy score: the same in every call

/// Returns the sd by which a target and its draws are divided: that of a number in training, else the root of
/// the mean variance of the answers.
double scale_of(const Model& model, const Predictive& p) {
  const Task& task = model.schema().task;
  const double sd = std::holds_alternative<Regression>(p)
                        ? target_sd(task)
                        : std::sqrt(total_var(std::get<Counts>(p)).mean().item<double>());
  return std::isfinite(sd) && sd > 0 ? sd : 1;
}

/// Returns the answers to some of the rows: those at these places in JointAnswers::rows.
JointAnswers at_places(const JointModel& model, const Table& table, const JointAnswers& answers,
                       const std::vector<int64_t>& places) {
  if (places.size() == answers.rows.size()) return answers;
  JointAnswers out;
  for (const int64_t place : places) out.rows.push_back(answers.rows[static_cast<size_t>(place)]);
  const Examples rows = take_rows(table, out.rows);
  for (const Model& one : model.models()) out.joint.push_back(one.answer(rows));
  return out;
}

/// Returns the places of the rows of a weight above 0 in which at least two targets are known, at most
/// kMostScoredRows of them. z, weight: of the m rows; `weight` may be undefined.
std::vector<int64_t> scored_places(const at::Tensor& z, const at::Tensor& weight) {
  at::Tensor scored = z.isnan().logical_not().sum(1) > 1;
  if (weight.defined()) scored = scored & (weight > 0);
  const at::Tensor known = scored.nonzero().squeeze(1);
  const int64_t all = known.numel(), taken = std::min(all, kMostScoredRows);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < taken; ++i) places.push_back(known[i * all / taken].item<int64_t>());
  return places;
}

/// Returns x where y is known, else NaN.
at::Tensor where_known(const at::Tensor& y, const at::Tensor& x) {
  return at::where(y.isnan(), at::full_like(x, kMissing), x);
}

}  // namespace

std::optional<JointEvaluation> JointModel::evaluate_jointly(const Table& table, const JointAnswers& given,
                                                            double level) const {
  if (scored_.size() < 2) return std::nullopt;
  const at::Tensor all = scores(table, given);
  at::Tensor weight = scored_weights(Examples(table), parts_.models.front().fit_options());
  if (weight.defined()) weight = weight.index_select(0, at::tensor(given.rows, at::kLong));
  const std::vector<int64_t> places = scored_places(all, weight);
  if (places.empty()) return std::nullopt;
  const JointAnswers answers = at_places(*this, table, given, places);
  const JointRegion box = region(answers, level);
  const auto m = std::ssize(places), k = std::ssize(scored_);
  JointPieces pieces;
  pieces.z = all.index_select(0, at::tensor(places, at::kLong));
  if (weight.defined()) pieces.weight = weight.index_select(0, at::tensor(places, at::kLong));
  // The same numbers with and without correlation, so that the draws differ in nothing else.
  const Stream stream = Stream(kDrawsSeed).split("joint evaluation");
  const at::Tensor joint = copula_scores(parts_.correlation.matrix, m, kScoredDraws, stream),
                   apart = copula_scores(at::eye(k, at::kDouble), m, kScoredDraws, stream);
  const Table rows = take_rows(table, answers.rows);
  std::vector<at::Tensor> nll, draws, independent, targets, lower, upper;
  for (int64_t j = 0; j < k; ++j) {
    const size_t t = scored_[static_cast<size_t>(j)];
    const Predictive& p = answers.joint[t];
    const double scale = scale_of(parts_.models[t], p);
    const at::Tensor y = at::tensor(target_column(rows, parts_.models[t].target()).values, at::kDouble);
    const at::Tensor known = y.isnan().logical_not();
    const at::Tensor filled =
        known.any().item<bool>() ? at::where(known, y, y.masked_select(known)[0]) : at::zeros_like(y);
    nll.push_back(where_known(y, -marginal_log_density(p, filled)));
    draws.push_back(marginal_quantiles(p, joint.select(2, j)) / scale);
    independent.push_back(marginal_quantiles(p, apart.select(2, j)) / scale);
    targets.push_back(y / scale);
    lower.push_back(box.lower.select(1, j) / scale);
    upper.push_back(box.upper.select(1, j) / scale);
  }
  pieces.nll = at::stack(nll, 1);
  pieces.draws = at::stack(draws, 2);
  pieces.independent_draws = at::stack(independent, 2);
  pieces.y = at::stack(targets, 1);
  pieces.lower = at::stack(lower, 1);
  pieces.upper = at::stack(upper, 1);
  return joint_evaluation(pieces, parts_.correlation.matrix, level, box.factor);
}

JointReport JointModel::evaluate(const Table& table, double level) const {
  JointReport out;
  bool any = false;
  for (const Model& model : parts_.models) {
    KnownRows known = known_rows(table, model.target());
    out.targets.emplace_back();
    if (known.places.empty()) continue;
    any = true;
    const Examples rows = std::move(known.table);
    std::vector<BadRow> bad;
    out.targets.back() = model.evaluate(rows, level, &bad);
    if (!bad.empty())
      out.notes.push_back(model.target() + ": " + bad_examples_text(rows, bad, "left out of the report"));
  }
  if (!any) throw DataError(table.source, "expected rows with a value in one of the targets; received none");
  out.joint = evaluate_jointly(table, answers(Examples(table)), level);
  return out;
}

}  // namespace slimbayes
