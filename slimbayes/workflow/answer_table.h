#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// A table of answers, ready to be written.
struct AnswerTable {
  Table table;
  size_t exact = 0;  // number of leading columns that are copied from the data; write these unrounded
};

/// What a table of answers shows beside the answers.
struct TableOptions {
  std::vector<std::string> kept = {};  // columns of the data, before the answer
  std::vector<Column> more = {};       // columns after it
  bool parts = false;                  // the parts of the sd where they are not noise and ignorance, too
};

/// Returns a table with one line per example. Its columns are, in this order: the columns `kept` of the data
/// (for a window: of the last row that it sees, after "last_time", the time of that row); for windows, the
/// columns that name the series, "forecast_time", the time of the predicted row, and, if the data have any,
/// "actual", its target in the target's units or the name of its class; then the answer:
///   numbers  mean, sd, the parts of the sd, lower, upper, in the target's units. The parts are sd_aleatoric
///            and sd_epistemic where the method tells noise from ignorance (ood_score is "epistemic_sd").
///            Elsewhere they stand only with TableOptions::parts, under the paper's names: sd_noise, the
///            noise of all rows, and sd_function, the sd of the function
///   classes  p_CLASS for each class, entropy, mutual_information, label, and for a calibrated model set, the
///            plausible classes joined by "|"
///   counts   the columns of numbers
///   events   mean, sd, lower, upper of the intensity
/// and last `more`. Answers at several levels have lower_90, upper_90, set_90, ... in place of lower, upper,
/// set. Cells of an example without an answer are missing. `answers` must hold a level. Throws
/// std::invalid_argument if `answers` belongs to other examples, if a kept column or a series column has the
/// name of an answer's column or, for windows, is called last_time, forecast_time or actual, or for `kept`
/// with images, which have no columns.
AnswerTable answer_table(const Model& model, const Examples& examples, const Answers& answers,
                         const TableOptions& options = {});

/// Returns notes that a user should read before using these answers: variances that rounding made negative
/// and that were set to 0, parts of the uncertainty that are not what their names say, means of rates that
/// rest on a tail, a level that classes do not use, and the time of the kept columns of windows.
std::vector<std::string> answer_notes(const Model& model, const Examples& examples, const Answers& answers,
                                      const TableOptions& options = {});

}  // namespace slimbayes
