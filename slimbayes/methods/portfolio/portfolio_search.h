#pragma once

#include <optional>
#include <vector>

#include "slimbayes/methods/portfolio/auto_options.h"
#include "slimbayes/methods/portfolio/portfolio.h"
#include "slimbayes/methods/portfolio/search_rows.h"

namespace slimbayes {

/// The result of a search.
struct SearchResult {
  std::vector<TriedCandidate>
      tried;   // in the order of trying; those with a weight answer, with the members that answer
  double nll;  // of the mixture, on the held-out rows
  std::optional<double> power;  // of the pooled class probabilities: see pooled()
  int64_t held = 0;             // number of these rows
  std::vector<int64_t>
      wild;  // rows whose targets are far from what the candidate with the largest weight says
  bool interrupted = false;  // by the caller
  bool late = false;         // whether a candidate was left out, or has fewer copies, because of the time
  double core_share = 1;     // CPU time of the fits over their seconds
};

/// Fits the candidates one after another, scores them on the rows that their fits have not seen, and weighs
/// them. A candidate that fails numerically, does not take these rows, or does not end in time is left out,
/// with the reason. Writes checkpoints. Throws as the last candidate if all fail.
SearchResult search(const AutoOptions& options, const nlohmann::json& passed_on, const SearchRows& rows,
                    const FitContext& context);

}  // namespace slimbayes
