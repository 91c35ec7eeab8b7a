#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/method/method.h"
#include "slimbayes/methods/portfolio/candidates.h"
#include "slimbayes/methods/portfolio/member_view.h"
#include "slimbayes/methods/portfolio/row_scale.h"
#include "slimbayes/methods/portfolio/tempering.h"

namespace slimbayes {

/// A candidate of `auto` with its fits.
struct TriedCandidate {
  Candidate candidate;
  size_t number = 0;  // its place in the list of all candidates; not in a model file
  MemberView view;
  std::vector<std::shared_ptr<const Fitted>> members;
  std::string left_out;   // why the candidate is not used; "" if it is or may be
  bool for_time = false;  // whether that is because the time was short
  double seconds = 0;     // of all its fits
  bool cut = false;       // whether the time limit ended one of them early
  double nll = std::numeric_limits<double>::quiet_NaN();  // of the held-out rows, after the tempering
  /// Of a regression: the root mean squared error of the held-out rows, in sds of their target; not in a file.
  double error = std::numeric_limits<double>::quiet_NaN();
  RowScale row_scale = {};   // of a regression: the factor of a member's variance in its view, row by row
  Tempering tempering = {};  // of a regression, after that
  double power = 1;          // of class probabilities
  /// Whether each member was fitted without one fold. One member then answers each held-out row, so that the
  /// tempering multiplies the variance of each member, before their mean is taken.
  bool of_folds = false;
  double weight = 0;  // in the mixture
};

/// Returns the candidates in their order, without fits.
std::vector<TriedCandidate> untried(const std::vector<Candidate>& candidates);

/// Returns what the candidate's variance may depend on: the encoded inputs, which must be vectors, and the
/// mean that a member answers in its view. mean [n]. [n, d + 1] float64
at::Tensor scale_features(const Dataset& rows, const at::Tensor& mean);

/// Returns the answers of some members to these rows in the view of the candidate, one a member.
std::vector<Predictive> member_answers(const TriedCandidate& tried,
                                       const std::vector<std::shared_ptr<const Fitted>>& members,
                                       const Dataset& rows, const PredictOptions& options = {});

/// Returns the candidate's answer that follows from those of its members, with its corrections, for the
/// target as it is: their equally weighted mixture, or bagged_mixture() (answers/mixture.h) of fold members
/// of a regression.
Predictive candidate_answer(const TriedCandidate& tried, std::vector<Predictive> answers,
                            const Dataset& rows);

/// Stores the candidates in the order of the list, and reads them. stored_portfolio throws
/// std::invalid_argument for a damaged file.
void store_portfolio(const std::vector<TriedCandidate>& all, TensorFile& file);
std::vector<TriedCandidate> stored_portfolio(const TensorFile& file);

}  // namespace slimbayes
