#pragma once

#include <cstdint>
#include <vector>

#include "slimbayes/data/split/split.h"
#include "slimbayes/fit/fit_data.h"
#include "slimbayes/fit/resolved_fit.h"

namespace slimbayes {

/// The examples of a fit, divided into parts.
struct DealtExamples {
  SplitRows split;
  std::vector<int64_t> calibration_groups;  // group of each calibration row; empty without calibration
  bool grouped = false;   // rows with identical inputs stay in one part and count once as evidence
  double wild_share = 0;  // of the rows: left out because of their target (data/rows/wild_rows.h)
};

/// Returns whether rows with identical inputs count once as evidence: where the split keeps them together,
/// and where some of the rows with these `groups` repeat. `all` has the groups of all rows.
bool counts_inputs_once(const FitOptions& fit, const RowGroups& all, const std::vector<int64_t>& groups);

/// The second stage of a fit. Decides which examples are for training, validation, calibration and test, so
/// that the training part has an example of every class if possible. Rows of a table with wrong cells are in
/// no part, unless they are test rows (FitOptions::wild_cells). The split's notes report the decisions.
/// A request that has the parts already (ResolvedFit::dealt) keeps them, but for the rows with wrong cells.
/// Throws std::invalid_argument if a part is too small: if there are fewer than two training rows, fewer
/// training rows than a rank that the user set, or too few groups of identical inputs for calibration.
DealtExamples deal_examples(const ResolvedFit& request, const FitData& data);

}  // namespace slimbayes
