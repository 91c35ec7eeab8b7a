#include "slimbayes/methods/portfolio/search_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "slimbayes/answers/answers.h"
#include "slimbayes/answers/density.h"
#include "slimbayes/answers/row_mean.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/row_weights.h"

namespace slimbayes {

namespace {

constexpr double kValidShare = 0.1;  // of the rows outside a fold

at::Tensor indices(const std::vector<int64_t>& rows) { return at::tensor(rows, at::kLong); }

/// Returns the number of each row's group of identical inputs. If inputs repeat more than ten times on
/// average, or are no vectors of numbers, every row gets a group of its own.
std::vector<int64_t> groups_of_rows(const Dataset& rows) {
  std::vector<int64_t> group(static_cast<size_t>(rows.size()));
  std::iota(group.begin(), group.end(), 0);
  if (!rows.schema.input.is_vector()) return group;
  const auto [values, inverse, counts] = at::unique_dim(rows.all().inputs.at(0), 0, true, true);
  if (values.size(0) * 10 < rows.size()) return group;
  const at::Tensor of = inverse.contiguous();
  return {of.const_data_ptr<int64_t>(), of.const_data_ptr<int64_t>() + of.numel()};
}

/// Returns the held-out rows in the order of held_answer.
std::vector<int64_t> held_order(const SearchRows& rows) {
  std::vector<int64_t> order;
  for (const Fold& fold : rows.folds) order.insert(order.end(), fold.held.begin(), fold.held.end());
  return order;
}

}  // namespace

SearchRows search_rows(const Split& split, int64_t folds, const Stream& stream, at::Device device) {
  SearchRows rows;
  rows.device = device;
  rows.in_folds = split.valid.size() == 0;
  if (rows.in_folds) {
    rows.all = split.train;
    rows.folds = deal_folds(groups_of_rows(split.train), folds, kValidShare, stream);
    return rows;
  }
  rows.all = joined(split.train, split.valid);
  Fold one;
  one.train.resize(static_cast<size_t>(split.train.size()));
  std::iota(one.train.begin(), one.train.end(), 0);
  one.valid.resize(static_cast<size_t>(split.valid.size()));
  std::iota(one.valid.begin(), one.valid.end(), split.train.size());
  one.held = one.valid;
  rows.folds = {std::move(one)};
  return rows;
}

Split rows_of_fit(const TriedCandidate& tried, const SearchRows& rows, size_t k) {
  const auto part = [&](const std::vector<int64_t>& of) {
    return rows_in_view(tried.view,
                        of.empty() ? Dataset{rows.all.schema, nullptr} : rows.all.subset(indices(of)));
  };
  const bool all = tried.candidate.learns_all();
  if (k >= rows.folds.size() && all) {
    std::vector<int64_t> every(static_cast<size_t>(rows.all.size()));
    std::iota(every.begin(), every.end(), 0);
    return {part(every), part({})};
  }
  const Fold& fold = rows.folds[rows.in_folds ? k : 0];
  if (!all || !rows.in_folds) return {part(fold.train), part(fold.valid)};
  std::vector<int64_t> both = fold.train;
  both.insert(both.end(), fold.valid.begin(), fold.valid.end());
  std::ranges::sort(both);
  return {part(both), part({})};
}

size_t needed_fits(const Candidate& candidate, const SearchRows& rows) {
  return rows.in_folds ? scoring_fits(candidate, rows) : 1;
}

size_t scoring_fits(const Candidate& candidate, const SearchRows& rows) {
  if (rows.in_folds) return rows.folds.size();
  return candidate.learns_all() ? 1 : static_cast<size_t>(candidate.copies);
}

size_t all_fits(const Candidate& candidate, const SearchRows& rows) {
  return scoring_fits(candidate, rows) + (rows.in_folds && candidate.learns_all() ? 1 : 0);
}

std::vector<HeldOutAnswers> held_out_answers(const TriedCandidate& tried, const SearchRows& rows) {
  std::vector<HeldOutAnswers> parts;
  PredictOptions options;
  options.device = rows.device;
  for (size_t k = 0; k < rows.folds.size(); ++k) {
    const Dataset held = rows.all.subset(indices(rows.folds[k].held));
    const auto unseen = rows.in_folds ? std::vector{tried.members[k]} : tried.members;
    parts.push_back({held, member_answers(tried, unseen, held, options)});
  }
  return parts;
}

Predictive held_answer(const TriedCandidate& tried, const std::vector<HeldOutAnswers>& parts) {
  std::vector<Predictive> answers;
  for (const HeldOutAnswers& part : parts)
    answers.push_back(candidate_answer(tried, part.answers, part.rows));
  return answers.size() == 1 ? answers.front() : concatenated(answers);
}

namespace {

/// Returns the factor of the variance by row that the held-out answers ask for. Only of folds and of vectors
/// of numbers: with validation rows the candidates that learn the noise of each row have enough of them.
RowScale asked_row_scale(const SearchRows& rows, const std::vector<HeldOutAnswers>& parts,
                         const Regression& held, const at::Tensor& targets) {
  if (!rows.in_folds || !rows.all.schema.input.is_vector() || held.density.size() > 1) return {};
  std::vector<at::Tensor> features;
  std::vector<int64_t> part;
  double epistemic = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto& own = std::get<Regression>(parts[k].answers.at(0));
    features.push_back(scale_features(parts[k].rows, own.mean));
    epistemic = std::max(epistemic, own.epistemic_var.max().item<double>());
    part.insert(part.end(), rows.folds[k].held.size(), static_cast<int64_t>(k));
  }
  RowScale scale = fitted_row_scale(normal_score(held, targets), at::cat(features), part, held_weights(rows));
  scale.seen_epistemic = epistemic;
  return scale;
}

}  // namespace

std::optional<Predictive> score_candidate(TriedCandidate& tried, const SearchRows& rows,
                                          const std::vector<HeldOutAnswers>& parts, const at::Tensor& targets,
                                          bool tails) {
  tried.of_folds = rows.in_folds;
  tried.row_scale = {};
  tried.tempering = {};
  tried.power = 1;
  const at::Tensor weights = held_weights(rows);
  Predictive held = held_answer(tried, parts);
  if (const auto* r = std::get_if<Regression>(&held)) {
    tried.row_scale = asked_row_scale(rows, parts, *r, targets);
    if (!tried.row_scale.constant()) held = held_answer(tried, parts);
    r = std::get_if<Regression>(&held);
    tried.tempering = fitted_tempering(*r, targets, tails, weights);
    held = held_answer(tried, parts);
    const at::Tensor residual = std::get<Regression>(held).mean - targets;
    tried.error = std::sqrt(weighted_mean(residual.square(), weights) / weighted_var(targets, weights));
  }
  if (const auto* c = std::get_if<Classes>(&held)) {
    tried.power = fitted_power(*c, targets, weights);
    held = held_answer(tried, parts);
  }
  const double nll = weighted_mean(row_nll(held, targets), weights);
  if (!std::isfinite(nll)) {
    tried.left_out = "its held-out NLL is not finite";
    return {};
  }
  tried.nll = nll;
  return held;
}

std::vector<int64_t> wild_rows(const TriedCandidate& tried, const SearchRows& rows,
                               const at::Tensor& targets) {
  constexpr double kFar = 5, kMostShare = 0.02;
  if (!rows.in_folds || rows.all.schema.task.kind != TaskKind::regression) return {};
  TriedCandidate core = tried;
  const double dof = tried.tempering.dof;  // the factor is that of the variance of a Student-t distribution
  core.tempering = {tried.tempering.factor * (std::isfinite(dof) ? (dof - 2) / dof : 1)};
  const auto held = std::get<Regression>(held_answer(core, held_out_answers(tried, rows)));
  const DensityComponent first = components_of(held).front();
  const at::Tensor weights = held_weights(rows);
  const at::Tensor own = normal_score(held, targets).abs(),
                   residual = own * (first.aleatoric_var + first.epistemic_var).sqrt();
  // A wild row in the training of a fold makes its sd too large beside that of the fold that holds it out.
  constexpr double kNormalMedian = 0.6745;  // of the size of a standard normal variable
  const at::Tensor score = at::minimum(own, kNormalMedian * residual / weighted_median(residual, weights));
  const at::Tensor above = normal_score(held, targets) > 0;
  const std::vector<int64_t> order = held_order(rows);
  // Many rows that are far off on one side, such as targets near 0, are no errors; few on the other may be.
  std::vector<std::pair<double, int64_t>> far;
  for (const bool high : {false, true}) {
    const at::Tensor side = (score > kFar) & (above == high);
    const double count = (weights.defined() ? side * weights : side).sum().item<double>();
    if (count > kMostShare * total_of(weights, std::ssize(order))) continue;
    for (size_t i = 0; i < order.size(); ++i)
      if (const auto at = static_cast<int64_t>(i); side[at].item<bool>())
        far.push_back({-score[at].item<double>(), order[i]});
  }
  std::ranges::sort(far);
  std::vector<int64_t> wild;
  for (const auto& [z, row] : far) wild.push_back(row);
  return wild;
}

at::Tensor held_weights(const SearchRows& rows) {
  const at::Tensor all = rows.all.weights();
  return all.defined() ? all.index_select(0, indices(held_order(rows))) : all;
}

at::Tensor held_targets(const SearchRows& rows) {
  std::vector<at::Tensor> parts;
  for (const Fold& fold : rows.folds) parts.push_back(targets_of(rows.all.subset(indices(fold.held))));
  return at::cat(parts);
}

}  // namespace slimbayes
