#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"

namespace slimbayes {

/// By how much a candidate lowers the NLL of the others together, in nats per held-out row: the mean over the
/// rows by their weights, and its standard error. The rows are the same with and without the candidate.
struct HeldOutGain {
  double mean = 0, standard_error = 0;
};

/// Returns the gain of the second row NLL over the first (mean_with_error in method/row_weights.h). Both [n],
/// n > 0, with the weights [n] of the rows or undefined ones; the standard error of one row is infinite.
HeldOutGain gain_of(const at::Tensor& row_nll_without, const at::Tensor& row_nll_with,
                    const at::Tensor& weights = {});

/// The gain in nats a row for which a fit with another seed is worth its time.
inline constexpr double kLeastGain = 0.005;

/// The gain in nats a row for which the fits to the other folds are worth their time.
inline constexpr double kWorthwhileGain = 0.01;

/// Returns whether a candidate with this gain is not worth its other fits: even the mean plus its standard
/// error is below kWorthwhileGain. A stricter rule, which left out every candidate whose gain was not
/// proven, cost .08 nats on a split of concrete (docs/design-notes.md).
bool adds_little(const HeldOutGain& gain);

/// The folds after which a candidate may leave. Later ones would save little.
inline constexpr size_t kDecidingFolds = 2;

/// Compares a candidate that is fitted to the first folds with those that are fitted to all of them.
class CandidateRace {
 public:
  /// Both must outlive the race.
  CandidateRace(const SearchRows& rows, const AutoOptions& options) : rows_(rows), options_(options) {}

  /// Returns whether fits that add too little are left out. This is done only for numbers, because its effect
  /// on classes and counts has not been measured.
  bool is_on() const {
    return options_.fits == "needed" && rows_.all.schema.task.kind == TaskKind::regression;
  }

  /// Returns whether the next fit of candidate `one` of `all` decides whether it leaves: one of the first
  /// folds, if the candidate comes_after_another.
  bool next_fold_decides(const TriedCandidate& one, const std::vector<TriedCandidate>& all) const;

  /// Returns the reason why candidate i of `all` leaves after its last fit, because it adds_little; "" if it
  /// stays.
  std::string why_it_leaves(const std::vector<TriedCandidate>& all, size_t i);

  /// Returns what candidate i of `all` adds to the candidates that have a score, on the rows of the folds of
  /// which it has fits. The corrections of each candidate and the weights of their mixture are those that
  /// suit these rows best. Returns nullopt if no other candidate has a score on them, if candidate i has
  /// none, if the computation fails numerically, or if there are fewer than 50 rows (effective_rows), which
  /// are too few to decide.
  std::optional<HeldOutGain> gain(const std::vector<TriedCandidate>& all, size_t i);

 private:
  struct OnFolds {
    TriedCandidate tried;            // with the corrections
    std::optional<Predictive> held;  // its answers
  };
  std::optional<HeldOutGain> measured_gain(const std::vector<TriedCandidate>& all, size_t i);
  const OnFolds& on_first_folds(const TriedCandidate& one, size_t folds);

  const SearchRows& rows_;
  const AutoOptions& options_;
  std::map<std::pair<size_t, size_t>, OnFolds> known_;  // by the numbers of the candidate and of the folds
};

}  // namespace slimbayes
