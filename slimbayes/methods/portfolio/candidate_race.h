#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "slimbayes/answers/predictive.h"
#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"

namespace slimbayes {

/// What a candidate adds to others: by how much it lowers the NLL of a held-out row, in nats, and the
/// standard error of this mean over the rows, which are the same with and without it.
struct HeldOutGain {
  double mean = 0, standard_error = 0;
};

/// Returns the gain of the second row NLL over the first. Both [n], n > 0; the standard error of one row is
/// infinite.
HeldOutGain gain_of(const at::Tensor& row_nll_without, const at::Tensor& row_nll_with);

/// The gain in nats a row for which further fits are worth their time.
inline constexpr double kLeastGain = 0.005;

/// Returns whether a candidate with this gain is not worth its other fits: the mean less its standard error
/// is below kLeastGain.
bool adds_little(const HeldOutGain& gain);

/// The folds after which a candidate may leave. Later ones would save little.
inline constexpr size_t kDecidingFolds = 2;

/// Compares a candidate that is fitted to the first folds with those that are fitted to all of them.
class CandidateRace {
 public:
  /// Both must outlive the race.
  CandidateRace(const SearchRows& rows, const AutoOptions& options) : rows_(rows), options_(options) {}

  /// Returns whether fits that add too little are left out: those of numbers alone, since what that costs
  /// classes and counts is not measured.
  bool is_on() const {
    return options_.fits == "needed" && rows_.all.schema.task.kind == TaskKind::regression;
  }

  /// Returns what candidate i of `all` adds to the candidates that have a score, on the rows of the folds
  /// that it has fits of. Each candidate has the corrections, and all together the weights of a mixture, that
  /// suit these rows best. Nothing if no other has a score there, if the candidate has none, if that fails
  /// numerically, or on fewer than 50 rows, which say too little.
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
