#pragma once

#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// A column, prepared for association().
struct RankedColumn {
  bool is_category = false;
  std::vector<double>
      values;  // [n] ranks of the present cells (the mean rank of equal cells), or levels; NaN
};

/// Returns the cells of a column as association() compares them.
RankedColumn ranked(const Column& column);

/// Returns how strongly two columns of n rows go together, from 0 to 1, on the rows in which both are
/// present: of two columns of numbers, booleans or times |Spearman's correlation|; of two categorical ones
/// Cramer's V; of one of each the correlation ratio of the ranks. The latter two are corrected for the number
/// of levels (Bergsma 2013; epsilon squared of Kelley 1935): independent columns of many levels give about 0.
/// 0 if a column is constant on these rows, or if they are fewer than three.
double association(const RankedColumn& a, const RankedColumn& b);

}  // namespace slimbayes
