#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/answers/conditional/conditional_scores.h"
#include "slimbayes/answers/conditional/row_scores.h"

namespace slimbayes {

/// A group of fewer rows is not scored by itself: its coverage would be known to a third at best.
inline constexpr int64_t kLeastGroup = 10;

/// Returns Wilson's interval of a binomial probability of which a share of n rows was seen: the probabilities
/// p with |share - p| <= z sqrt(p (1 - p) / n), with the normal quantile z of (1 + mass) / 2 (Wilson 1927,
/// JASA 22; recommended for few rows by Brown, Cai and DasGupta 2001). n need not be whole: of weighted rows
/// take the effective number. Throws std::invalid_argument unless 0 <= share <= 1, n > 0 and 0 < mass < 1.
std::pair<double, double> wilson_range(double share, double n, double mass = 0.95);

/// The groups of n rows.
struct RowGrouping {
  std::vector<int64_t> of;         // [n] the group of each row, from 0
  std::vector<std::string> names;  // of the groups
};

/// Returns the scores of all rows as those of one group of this name. There must be rows.
GroupScores scores_of_group(const RowScores& scores, std::string name);

/// Returns the scores of each group that has rows, in the order of its number; the rows of groups with fewer
/// than kLeastGroup are scored together (GroupedScores::few). `column` is the name of the column that makes
/// the groups. Throws std::invalid_argument if `groups` is for another number of rows or a group has no name.
GroupedScores scores_by_group(const RowScores& scores, const RowGrouping& groups, std::string column);

}  // namespace slimbayes
