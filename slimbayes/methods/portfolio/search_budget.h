#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"
#include "slimbayes/train/jobs.h"

namespace slimbayes {

double seconds_since(std::chrono::steady_clock::time_point begin);

/// Returns the time `seconds` from now; nullopt (no limit) for more than 1e9.
JobDeadline in_seconds(double seconds);

/// Returns the reason, for messages, why a candidate is left out for lack of time: it would take `seconds`,
/// and `left` seconds are left.
std::string would_take(double seconds, double left);

/// The time of a search: AutoOptions::time_limit or, by default, a time that follows from the number of rows;
/// at most what the user's call has left (FitContext::until). The time for the steps after the fits is
/// reserved: the mixture, and its answers to the rows that are reported.
class SearchBudget {
 public:
  SearchBudget(const AutoOptions& options, const SearchRows& rows, const FitContext& context);

  /// Returns the seconds that are left for fits; below 0 if the time is over.
  double left() const;

  /// Returns whether the user has set the limit.
  bool is_asked() const { return asked_; }

  /// least_seconds returns the seconds of the shortest `fits` fits of the candidate with their scores.
  /// seconds_to_finish returns those of the work that remains after its last fit is told to end. Both follow
  /// from the numbers of rows and columns (MethodInfo::cost) and the speed of this machine, which the first
  /// call measures in some milliseconds.
  double least_seconds(const Candidate& candidate, size_t fits);
  double seconds_to_finish(const Candidate& candidate);

  /// Counts the seconds of fits of an earlier run, which this one resumes.
  void add_earlier(double seconds) { earlier_ += seconds; }
  /// Reserves `seconds`, the time of the candidate's last pass over the rows that score, for another such
  /// pass.
  void set_aside(size_t candidate, double seconds) { aside_[candidate] = seconds; }
  /// Sets aside the time of its fit to all rows, which comes after the fits of all candidates.
  void set_aside_fit(size_t candidate, double seconds) { fit_aside_[candidate] = seconds; }
  /// Returns the seconds of a fit to all rows by those of the candidate's fits, each without one fold.
  double seconds_to_all_rows(const TriedCandidate& tried) const;

  /// Returns the seconds that are left for fits of the candidate, so that its answers end in time.
  double left_for(const Candidate& candidate) { return left() - seconds_to_finish(candidate); }

  /// Returns into how many parts the time is divided that is left for the candidate's fits: those that score
  /// it and, in folds, the one to all rows.
  size_t shares(const TriedCandidate& tried, int workers) const;

 private:
  double seconds_of(double operations);
  FitCost cost_of(const Candidate& candidate, int64_t rows) const;
  FitCost cost_of(const Candidate& candidate) const;  // of a fit without the first fold

  const SearchRows& rows_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool asked_;
  double limit_, earlier_ = 0;
  std::map<size_t, double> aside_, fit_aside_;  // by candidate
  double speed_ = 0;                            // operations a second; 0: not measured yet
};

}  // namespace slimbayes
