#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/separation_report.h"
#include "slimbayes/catalog/fields.h"
#include "slimbayes/model/conditional/conditional_report.h"

namespace slimbayes {

// What `evaluate` says as JSON: structs of catalog/fields.h.

/// The rows outside the training range of a column.
struct BeyondReport {
  int64_t rows = 0;
  double farthest = 0;
};

template <class V>
void describe(BeyondReport& f, V& v) {
  v("rows", f.rows, "number of rows outside the training range of the column");
  v("farthest", f.farthest, "how far the farthest of them lies beyond the range, in half-ranges");
}

/// The rows outside the training range (encoding/outside.h).
struct OutsideReport {
  int64_t rows = 0;
  std::map<std::string, BeyondReport> columns = {};
};

template <class V>
void describe(OutsideReport& f, V& v) {
  v("rows", f.rows, "number of rows outside the training range of at least one column");
  v("columns", f.columns, "the columns with such rows");
}

/// The report of the tool's and of Python's `evaluate`.
struct EvaluationReport {
  AnswerMetrics metrics = {};
  std::string method = {};
  double level = 0;
  std::optional<std::string> calibration = {}, sets = {}, split = {};
  std::optional<OutsideReport> outside = {};
  std::optional<SeparationReport> ood = {};
  ConditionalReport conditional = {};
};

template <class V>
void describe(EvaluationReport& f, V& v) {
  v.part(f.metrics);
  v("method", f.method, "name of the method");
  v("level", f.level, "level of the intervals and sets");
  v("calibration", f.calibration, "conformal or adaptive; of a calibrated model");
  v("sets", f.sets, "how the sets of classes are made: randomised or deterministic; of a calibrated model");
  v("split", f.split, "the part that is scored: train, valid, calibration or test; with such a choice");
  v("outside", f.outside, "the rows outside the training range; of tables");
  v("ood", f.ood, "how well the scores tell foreign data from these; with foreign data");
  v.part(f.conditional);
}

}  // namespace slimbayes
