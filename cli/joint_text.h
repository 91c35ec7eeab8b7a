#pragma once

#include <string>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"

namespace slimbayes::cli {

/// Notes on several targets, of which some are the same for all.
class TargetNotes {
 public:
  explicit TargetNotes(std::vector<std::string> targets) : targets_(std::move(targets)) {}

  /// Adds notes on the target of this number.
  void add(size_t target, const std::vector<std::string>& notes);

  /// Returns each different note once, in the order in which they came. The names of its targets stand before
  /// one that is not on all of them.
  std::vector<std::string> sentences() const;

 private:
  struct Noted {
    std::string note;
    std::vector<size_t> targets;
  };
  std::vector<std::string> targets_;
  std::vector<Noted> notes_;
};

/// Returns the rows of a correlation matrix.
std::vector<std::vector<double>> matrix_rows(const ErrorCorrelation& correlation);

/// Returns the correlation of the errors of these targets as a table of numbers with two decimals, and a line
/// on what it rests on. "" for fewer than two targets.
std::string correlation_text(const std::vector<std::string>& targets, const ErrorCorrelation& correlation);

/// Returns one line that compares the joint NLL with that of independent targets. `part` names the rows that
/// were scored, such as "test".
std::string joint_line(const JointEvaluation& scores, const std::string& part);

/// Returns the joint scores beside those of independent targets as a table, and lines on the gain and on the
/// joint regions.
std::string joint_table(const JointEvaluation& scores);

/// Returns a sentence on the joint regions of this level: how far they reach, and what that rests on.
std::string region_text(double level, double factor, bool conformal);

}  // namespace slimbayes::cli
