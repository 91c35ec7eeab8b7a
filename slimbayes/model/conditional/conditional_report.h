#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/answers/conditional/conditional_scores.h"
#include "slimbayes/answers/conditional/row_scores.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// What `evaluate` says of the coverage in parts of the rows.
struct ConditionalReport {
  std::optional<SizeCoverage> coverage_by_size = {};
  std::optional<std::vector<GroupedScores>> by = {};
  std::optional<ExcessRisk> conditional = {};
};

template <class V>
void describe(ConditionalReport& f, V& v) {
  v("coverage_by_size", f.coverage_by_size,
    "coverage by the width of the interval; of at least 50 rows of numbers or counts");
  v("by", f.by, "the scores of groups of rows, for each column that was asked for");
  v("conditional", f.conditional,
    "how far the coverage given the inputs is from the level at least (ERT); if it was asked for");
}

/// The parts of a ConditionalReport that are computed on request.
struct ConditionalRequest {
  /// Columns of the data, inputs or not; an entry may be a comma-separated list of them.
  std::vector<std::string> by = {};
  bool conditional = false;  // estimate ConditionalReport::conditional, which trains a classifier
};

/// Checks ConditionalRequest::by against the data before anything is answered. Throws std::invalid_argument
/// for a name that is no column of the data, and for images.
void check_columns_of_groups(const Examples& examples, const std::vector<std::string>& by);

/// Returns the scores of the rows that `answers` answers, by the first level of `answers`. `answers` are
/// those of Model::answers() for these examples, which have targets, and whose weights are above 0
/// (scored_examples). Throws std::invalid_argument for events and segmentation.
RowScores row_scores(const Model& model, const Examples& examples, const Answers& answers);

/// Returns the coverage in parts of the rows. Examples without an answer are left out, and weights count as
/// in Model::evaluate(). Events and segmentation, which have no target a row, have an empty report. Throws
/// std::invalid_argument for a request of them, for a name that is no column of the data, and for groups of
/// images; else as Model::evaluate().
ConditionalReport conditional_report(const Model& model, const Examples& examples, const Answers& answers,
                                     const ConditionalRequest& request = {});

}  // namespace slimbayes
