#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"

// Which candidates of `auto` are worth a fit. The functions look at the scores of those that have been
// fitted.

namespace slimbayes {

/// Returns whether the candidate has a score and is not left out.
bool has_score(const TriedCandidate& tried);

/// Returns whether a candidate that is not a plain method has a score (has_score).
bool has_more_than_plain(const std::vector<TriedCandidate>& all);

/// Returns whether the candidate is not a plain method and another method that is not plain has a score.
bool comes_after_another(const TriedCandidate& one, const std::vector<TriedCandidate>& all);

/// Returns the reason not to fit candidate `one` of `all`, judged by the scores of the others; "" if there is
/// none.
std::string why_not_begun(const TriedCandidate& one, const std::vector<TriedCandidate>& all);

/// Leaves the candidate out for the reason `why`, which is the time limit.
void leave_for_time(TriedCandidate& one, const std::string& why);

/// Swaps candidate `next` with its successor if that is the same method on log y, `next` has no fits yet, and
/// `ridge` fits log y better than y, so that the time is spent on the better target first.
void try_log_target_first(std::vector<TriedCandidate>& all, size_t next);

/// Returns for each candidate whether it gets copies. With validation rows, a candidate gets copies if the
/// mixture of first fits gives it weight; with folds, none does. It looks at the first fits alone, so that a
/// resumed search chooses as the search did. `held` are the scored answers to the held-out rows.
std::vector<bool> candidates_to_copy(const std::vector<TriedCandidate>& all,
                                     std::vector<std::optional<Predictive>> held, const SearchRows& rows,
                                     const at::Tensor& targets, const AutoOptions& options);

}  // namespace slimbayes
