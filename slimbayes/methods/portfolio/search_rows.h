#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/core/random.h"
#include "slimbayes/data/split/folds.h"
#include "slimbayes/methods/portfolio/portfolio.h"

namespace slimbayes {

/// The rows of a search: those that score a candidate are held out of its fits.
struct SearchRows {
  Dataset all;
  std::vector<Fold> folds;  // row numbers of `all`
  bool in_folds = true;     // false: one set of validation rows, which also ends the training of networks
  at::Device device = at::kCPU;  // where candidates answer the held-out rows
};

/// Returns the rows of a search. If there are validation rows, they score every candidate. Otherwise the rows
/// are dealt into `folds` folds, rows with identical inputs to one fold unless they repeat more than ten
/// times on average, and a tenth of the rows outside a fold ends the training of networks. The folds have
/// nearly equal numbers of rows, whatever the weights of the rows. Throws
/// std::invalid_argument for fewer than two different rows without validation rows.
SearchRows search_rows(const Split& split, int64_t folds, const Stream& stream, at::Device device = at::kCPU);

/// Returns how many fits a candidate needs for a score, how many score it at most, and how many it has in all
/// at most. With folds, each fold needs one fit; a candidate that learns all rows gets one more, to all of
/// them, if it has a weight. With validation rows, one fit is needed; further fits are copies of it.
size_t needed_fits(const Candidate& candidate, const SearchRows& rows);
size_t scoring_fits(const Candidate& candidate, const SearchRows& rows);
size_t all_fits(const Candidate& candidate, const SearchRows& rows);

/// Returns the training and validation rows of fit `k` of a candidate, as it sees them.
Split rows_of_fit(const TriedCandidate& tried, const SearchRows& rows, size_t k);

/// Held-out rows, and what the fits that have not seen them answer, before all corrections.
struct HeldOutAnswers {
  Dataset rows;
  std::vector<Predictive> answers;  // of each such fit
};

/// Returns the answers of the candidate's fits to the rows that they have not seen, a part for each fold.
std::vector<HeldOutAnswers> held_out_answers(const TriedCandidate& tried, const SearchRows& rows);

/// Returns the candidate's answer to all held-out rows with its corrections, fold by fold; and the targets of
/// these rows, and their weights, undefined if each counts once, in the same order.
Predictive held_answer(const TriedCandidate& tried, const std::vector<HeldOutAnswers>& parts);
at::Tensor held_targets(const SearchRows& rows);
at::Tensor held_weights(const SearchRows& rows);

/// Returns the rows with a wild target, the farthest first. Only for a regression with folds. A target is
/// wild if it is more than 5 sd away from the candidate's held-out answer, by each of two sd: the sd of the
/// answer without its heavy tails (Tempering::dof, wild_share), and 1.48 times the median absolute residual
/// of all rows. If more than 2 % of the rows, by their weights, lie so far above their answers, they are part
/// of the distribution, and none of them is returned; the same holds below.
std::vector<int64_t> wild_rows(const TriedCandidate& tried, const SearchRows& rows,
                               const at::Tensor& targets);

/// Scores a candidate by its answers `parts` to the held-out rows, by the weights of these rows. It sets the
/// corrections of the candidate's answers, its NLL and its error, and returns the corrected answers. If the
/// NLL is not finite, it sets TriedCandidate::left_out and returns nothing. `tails`: whether the answers may
/// get heavy tails.
std::optional<Predictive> score_candidate(TriedCandidate& tried, const SearchRows& rows,
                                          const std::vector<HeldOutAnswers>& parts, const at::Tensor& targets,
                                          bool tails);

}  // namespace slimbayes
