#pragma once

#include <memory>
#include <vector>

#include "slimbayes/engine/row_model.h"
#include "slimbayes/methods/portfolio/portfolio.h"

namespace slimbayes {

/// Returns the mixture of these candidates of a regression, with the share of wrong targets that
/// contaminated() adds, as it answers rows without libtorch: row by row the same as candidate_answer(),
/// pooled() and contaminated(), for float32 rows. nullptr if a member has no row model or a density of its
/// own. `inputs`: numbers of a row; throws std::invalid_argument if a part of a damaged file has another
/// size.
std::shared_ptr<const engine::RowModel> portfolio_row_model(const std::vector<TriedCandidate>& used,
                                                            double wild_share, int64_t inputs);

}  // namespace slimbayes
