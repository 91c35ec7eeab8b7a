#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio.h"
#include "slimbayes/methods/search_rows.h"

// Which candidates of `auto` are worth a fit. The functions look at the scores of those that have been
// fitted.

namespace slimbayes {

/// Returns whether the candidate has its fits and a score.
bool settled(const Tried& tried);

/// Returns whether a candidate other than the plain methods is settled.
bool has_more_than_plain(const std::vector<Tried>& all);

/// How the reasons of candidates begin that were left out because of the time.
inline constexpr const char *kNoTimeLeft = "no time left", *kWouldTake = "would take",
                            *kNotEnded = "not ended after";

/// Returns whether the candidate was left out because of the time.
bool left_out_for_time(const Tried& tried);

/// Returns why the candidate `one` of `all` is not worth its time; "" if it is. `late`: no time is left.
std::string why_not_begun(const Tried& one, const std::vector<Tried>& all, bool late);

/// Puts candidate `next` after the one that follows it if both are the same method, the second of log y,
/// `next` has no fits yet, and a straight line fits log y better than y: the time should go to what fits.
void log_first(std::vector<Tried>& all, size_t next);

/// Returns for each candidate whether it gets copies: with validation rows those that the mixture of first
/// fits would use, in folds none. It looks at the first fits alone, so that a resumed search chooses as the
/// search did. `held` are the scored answers to the held-out rows.
std::vector<bool> worth_copies(const std::vector<Tried>& all, std::vector<std::optional<Predictive>> held,
                               const SearchRows& rows, const at::Tensor& targets, const AutoOptions& options);

}  // namespace slimbayes
