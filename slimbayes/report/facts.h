#pragma once

#include <string>
#include <vector>

#include "slimbayes/export.h"
#include "slimbayes/model/model.h"
#include "slimbayes/report/report_facts.h"

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

/// Returns the facts of the report. Equal models and data give equal facts. For windows a table is accepted
/// too. Examples without a finite answer are left out and counted. Throws std::invalid_argument for
/// segmentation and events, a part that does not exist, and as Model::evaluate(); DataError if no example has
/// an answer.
SLIMBAYES_EXPORT ReportFacts report_facts(const Model& model, const Examples& examples,
                                          const FactsOptions& options = {});

}  // namespace slimbayes
