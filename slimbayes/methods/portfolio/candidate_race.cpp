#include "slimbayes/methods/portfolio/candidate_race.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>

#include "slimbayes/methods/portfolio/portfolio_choice.h"
#include "slimbayes/methods/portfolio/portfolio_weights.h"

namespace slimbayes {

namespace {

SearchRows first_folds(const SearchRows& rows, size_t folds) {
  SearchRows some = rows;
  some.folds.resize(folds);
  return some;
}

}  // namespace

HeldOutGain gain_of(const at::Tensor& row_nll_without, const at::Tensor& row_nll_with) {
  const at::Tensor gain = row_nll_without - row_nll_with;
  const auto n = static_cast<double>(gain.numel());
  return {gain.mean().item<double>(),
          n > 1 ? gain.std().item<double>() / std::sqrt(n) : std::numeric_limits<double>::infinity()};
}

bool adds_little(const HeldOutGain& gain) { return !(gain.mean - gain.standard_error >= kLeastGain); }

const CandidateRace::OnFolds& CandidateRace::on_first_folds(const TriedCandidate& one, size_t folds) {
  const auto [at, is_new] = known_.try_emplace({one.number, folds});
  OnFolds& found = at->second;
  if (!is_new) return found;
  const SearchRows some = first_folds(rows_, folds);
  found.tried = one;
  found.tried.members.resize(folds);
  found.held = scored(found.tried, some, held_out_answers(found.tried, some), held_targets(some),
                      options_.tails == "auto");
  return found;
}

std::optional<HeldOutGain> CandidateRace::gain(const std::vector<TriedCandidate>& all, size_t i) {
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
  if (tried.empty()) return {};
  const at::Tensor targets = held_targets(first_folds(rows_, folds));
  const auto row_nll_of = [&](std::vector<TriedCandidate> together) {
    return weigh(together, held, targets, options_.combine == "best").row_nll;
  };
  const at::Tensor without = row_nll_of(tried);
  return add(all[i]) ? gain_of(without, row_nll_of(tried)) : HeldOutGain{};
}

}  // namespace slimbayes
