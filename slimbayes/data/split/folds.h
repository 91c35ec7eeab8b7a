#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// One fold of a cross-validation: the rows that are held out, and the training and validation rows of the
/// fit without them.
struct Fold {
  std::vector<int64_t> train, valid, held;  // row indices, ascending
};

/// Deals the rows at random into at most `folds` folds of nearly equal size. group[i] is the number of row
/// i's group, from 0; the rows of a group stay together. Of the rows outside a fold, the share
/// `valid_fraction` is for validation: at least one group if the fraction is above 0 and there are two or
/// more groups outside. Throws std::invalid_argument for fewer than two folds or groups.
std::vector<Fold> deal_folds(const std::vector<int64_t>& group, int64_t folds, double valid_fraction,
                             const Stream& stream);

}  // namespace slimbayes
