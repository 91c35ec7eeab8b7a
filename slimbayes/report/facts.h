#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/export.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// What report_facts() needs besides the model and the data.
struct FactsOptions {
  double level = 0.95;  // of the intervals and sets
  /// Part of the data to score, which must then be those that the model was fitted on: "train", "valid",
  /// "calibration" or "test"; "all": every example. Empty: the test part of the data that the model was
  /// fitted on, if it has one, else every example.
  std::string part = "";
  std::vector<std::string> notes = {};  // sentences on the reading of the data, which the facts repeat
  std::string version = "";             // of the program that writes the report
  PredictOptions predict = {};          // its progress goes over the answers and the importance
};

/// Returns everything that the report on a model and data with targets shows, as a JSON object: the numbers,
/// the names, and for each part a sentence `says` that is computed from the numbers. docs/report.md explains
/// the parts. Equal models and data give equal facts.
///   title, version, level, noun, task, input, target
///   card        method, rows of the parts, columns, options that differ from the defaults, calibration
///   data        file, rows, the part that is scored, and whether the model was fitted on these data
///   scores      a list of scores with `word`, what the number means here, and `verdict`, "good", "fair",
///               "poor" or ""; `report` has every metric
///   warnings, notes  lists of sentences
///   predicted, calibration, pit, quarters        numbers and counts
///   reliability, confusion, selective, entropy, sets  classes
///   groups, importance, residuals, surprising, foreign, forecast  where the examples have columns, targets
///               or times of this kind
/// For windows a table is accepted too. Examples without a finite answer are left out and counted. Throws
/// std::invalid_argument for segmentation and events, a part that does not exist, and as Model::evaluate();
/// DataError if no example has an answer.
SLIMBAYES_EXPORT nlohmann::json report_facts(const Model& model, const Examples& examples,
                                             const FactsOptions& options = {});

}  // namespace slimbayes
