#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// A table of answers, ready to be written.
struct AnswerTable {
  Table table;
  size_t exact = 0;  // number of leading columns that are copied from the data; write these unrounded
};

/// Returns a table with one line per example. Its columns are, in this order: the columns `kept` of the data
/// (for a window: of the last row that it sees); for windows, the columns that name the series and
/// "forecast_time", the time of the predicted row; then the answer:
///   numbers  mean, sd, sd_aleatoric, sd_epistemic, lower, upper, in the target's units
///   classes  p_CLASS for each class, entropy, mutual_information, label, and for a calibrated model set, the
///            plausible classes joined by "|"
///   counts   the columns of numbers
///   events   mean, sd, lower, upper of the intensity
/// and last `more`. Cells of an example without an answer are missing. `answers` must hold its interval
/// (unless it is of classes). Throws std::invalid_argument if `answers` belongs to other examples, if a kept
/// column or a series column has the name of an answer's column, or for `kept` with images, which have no
/// columns.
AnswerTable answer_table(const Model& model, const Examples& examples, const Answers& answers,
                         const std::vector<std::string>& kept = {}, std::vector<Column> more = {});

/// Returns notes that a user should read before using these answers: variances that rounding made negative
/// and that were set to 0, parts of the uncertainty that are not what their names say, means of rates that
/// rest on a tail, and a level that classes do not use.
std::vector<std::string> answer_notes(const Model& model, const Examples& examples, const Answers& answers,
                                      double level);

}  // namespace slimbayes
