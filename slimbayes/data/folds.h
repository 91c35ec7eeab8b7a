#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// A fold and the validation rows of the fit that leaves it out.
struct Fold {
  std::vector<int64_t> train, valid, held;  // ascending
};

/// Deals the rows, whose groups are numbered from 0, into at most `folds` folds of nearly equal size; a group
/// stays together. Of the rest the share `valid_fraction` (above 0: a group at least) is for validation.
/// Throws std::invalid_argument for fewer than two folds or groups.
std::vector<Fold> deal_folds(const std::vector<int64_t>& group, int64_t folds, double valid_fraction,
                             const Stream& stream);

}  // namespace slimbayes
