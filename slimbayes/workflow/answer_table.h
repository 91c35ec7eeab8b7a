#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// What an answer's table holds beside the answer.
struct AnswerTable {
  Table table;
  size_t exact = 0;  // its first columns, which stand there as the data have them
};

/// One line an example: the columns `kept` of the data (of a window: of the last row that it sees); of a window its series and
/// the time of its forecast, "forecast_time"; then
///   numbers  mean, sd, sd_aleatoric, sd_epistemic, lower, upper, in the target's units
///   classes  p_CLASS for each, entropy, mutual_information, label, and set, the plausible classes of a calibrated model joined
///            by "|"
///   counts   as numbers; events: mean, sd, lower, upper of the intensity
/// and `more`. Cells of an example without an answer are missing. `answers` has its interval. Throws std::invalid_argument for
/// a kept column of the name of an answer's, or where images have no columns to keep.
AnswerTable answer_table(const Model& model, const Examples& examples, const Answers& answers,
                         const std::vector<std::string>& kept = {}, std::vector<Column> more = {});

/// What a user should know of these answers: variances that rounding made 0, parts of the uncertainty that
/// are not what their names say, means of rates that rest on a tail, a level that classes do not have.
std::vector<std::string> answer_notes(const Model& model, const Examples& examples, const Answers& answers,
                                      double level);

}  // namespace slimbayes
