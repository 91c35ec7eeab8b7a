#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "slimbayes/engine/spec/answer_spec.h"
#include "slimbayes/methods/portfolio/portfolio.h"

namespace slimbayes {

/// Returns the mixture of these candidates of a regression, with the share of wrong targets that
/// contaminated() adds, as data for a row model: row by row the same as candidate_answer(), pooled() and
/// contaminated(), for float32 rows. Empty if a member has none. `inputs`: numbers of a row.
std::optional<engine::RowSpec> portfolio_row_spec(const std::vector<TriedCandidate>& used, double wild_share,
                                                  int64_t inputs);

/// The same for every task: of classes the pool of the candidates to this power, of counts their mixture.
std::optional<engine::AnswerSpec> portfolio_answer_spec(const std::vector<TriedCandidate>& used,
                                                        double wild_share, std::optional<double> power,
                                                        int64_t inputs);

}  // namespace slimbayes
