#include "slimbayes/methods/portfolio/candidate_race.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "slimbayes/method/row_weights.h"
#include "slimbayes/methods/portfolio/portfolio_choice.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"
#include "slimbayes/train/failure.h"

namespace slimbayes {

namespace {

constexpr double kLeastRows = 50;  // on which a gain says something

SearchRows first_folds(const SearchRows& rows, size_t folds) {
  SearchRows some = rows;
  some.folds.resize(folds);
  return some;
}

}  // namespace

HeldOutGain gain_of(const at::Tensor& row_nll_without, const at::Tensor& row_nll_with,
                    const at::Tensor& weights) {
  const MeanWithError gain = mean_with_error(row_nll_without - row_nll_with, weights);
  return {gain.mean, gain.error};
}

bool adds_little(const HeldOutGain& gain) { return !(gain.mean + gain.standard_error >= kWorthwhileGain); }

const CandidateRace::OnFolds& CandidateRace::on_first_folds(const TriedCandidate& one, size_t folds) {
  const auto key = std::pair(one.number, folds);
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  const SearchRows some = first_folds(rows_, folds);
  OnFolds found;
  found.tried = one;
  found.tried.members.resize(folds);
  found.held = score_candidate(found.tried, some, held_out_answers(found.tried, some), held_targets(some),
                               options_.tails == "auto");
  return known_.emplace(key, std::move(found)).first->second;
}

bool CandidateRace::next_fold_decides(const TriedCandidate& one,
                                      const std::vector<TriedCandidate>& all) const {
  return is_on() && rows_.in_folds && comes_after_another(one, all) &&
         one.members.size() < std::min(kDecidingFolds, scoring_fits(one.candidate, rows_) - 1);
}

std::string CandidateRace::why_it_leaves(const std::vector<TriedCandidate>& all, size_t i) {
  const std::optional<HeldOutGain> found = gain(all, i);
  if (!found || !adds_little(*found)) return "";
  return fmt::format("adds {:.2g} +- {:.2g} nats a row on {} of {} folds", found->mean, found->standard_error,
                     all[i].members.size(), rows_.folds.size());
}

std::optional<HeldOutGain> CandidateRace::gain(const std::vector<TriedCandidate>& all, size_t i) {
  try {
    return measured_gain(all, i);
  } catch (...) {
    if (!failure_of(std::current_exception())) throw;
    return {};
  }
}

std::optional<HeldOutGain> CandidateRace::measured_gain(const std::vector<TriedCandidate>& all, size_t i) {
  const at::NoGradGuard no_grad;
  const size_t folds = all[i].members.size();
  std::vector<TriedCandidate> tried;
  std::vector<std::optional<Predictive>> held;
  const auto add = [&](const TriedCandidate& one) {
    const OnFolds& found = on_first_folds(one, folds);
    if (!found.held) return false;
    tried.push_back(found.tried);
    held.push_back(found.held);
    return true;
  };
  for (const TriedCandidate& one : all)
    if (has_score(one)) add(one);
  const SearchRows some = first_folds(rows_, folds);
  const at::Tensor targets = held_targets(some), weights = held_weights(some);
  if (tried.empty() || effective_rows(weights, targets.numel()) < kLeastRows) return {};
  const auto row_nll_of = [&](std::vector<TriedCandidate> together) {
    return weigh(together, held, targets, /*best=*/false, weights).row_nll;
  };
  const at::Tensor without = row_nll_of(tried);
  if (!add(all[i])) return {};
  return gain_of(without, row_nll_of(tried), weights);
}

}  // namespace slimbayes
