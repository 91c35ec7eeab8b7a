#pragma once

#include <cstddef>
#include <vector>

#include "slimbayes/method/fit_jobs.h"
#include "slimbayes/methods/portfolio/candidates.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"

// The fits of the candidates of `auto` as jobs. They may run on several threads at once, so they use only
// what the search does not change.

namespace slimbayes {

/// The jobs of a candidate have the numbers from kMostFits times its number (TriedCandidate::number).
inline constexpr size_t kMostFits = 1000;

/// Returns the number of the job that makes fit k of the candidate (rows_of_fit).
size_t job_of(const TriedCandidate& tried, size_t k);

/// Returns the candidate's view of these rows.
MemberView view_of(const Candidate& candidate, const Dataset& rows);

/// Returns the jobs. The arguments must outlive them.
FitJobs candidate_jobs(const std::vector<Candidate>& candidates, const SearchRows& rows,
                       const FitContext& context);

}  // namespace slimbayes
