#pragma once

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/workflow/model.h"

namespace slimbayes {

/// A table of answers, ready to be written.
struct AnswerTable {
  Table table;
  size_t exact = 0;  // number of leading columns copied from the data; write these unrounded
};

/// The columns that a table of answers has beside the answers.
struct TableOptions {
  std::vector<std::string> kept = {};  // columns of the data, before the answer
  std::vector<Column> more = {};       // columns after the answer
  bool parts = false;                  // also show the parts of an sd that are not aleatoric and epistemic
};

/// Returns a table with one line per example. The columns, in this order:
/// - for windows with `kept` columns: "last_time", the time of the last row that the window sees;
/// - the columns `kept` of the data (for a window: of the last row that it sees);
/// - for windows: the columns that name the series; "forecast_time", the time of the predicted row; and, if
///   the data have it, "actual", the target there in its own units or as the name of its class;
/// - the answer:
///   numbers  mean, sd, the parts of the sd, lower, upper, in the target's units. If the method separates
///            aleatoric from epistemic uncertainty (ood_score is "epistemic_sd"), the parts are sd_aleatoric
///            and sd_epistemic. Otherwise they are shown only with TableOptions::parts, under the paper's
///            names: sd_noise, the noise of all rows, and sd_function, the sd of the function
///   classes  p_CLASS for each class, entropy, mutual_information, label, and for a calibrated model set, the
///            plausible classes joined by "|"
///   counts   the columns of numbers
///   events   mean, sd, lower, upper of the intensity
/// - the columns `more`.
/// With several levels, lower_90, upper_90, set_90, ... replace lower, upper, set. Cells of an example
/// without an answer are missing. `answers` must hold a level. Throws std::invalid_argument if `answers`
/// belongs to other examples; if a kept column or a series column has the name of an answer's column or, for
/// windows, is called last_time, forecast_time or actual; and for `kept` with images, which have no columns.
AnswerTable answer_table(const Model& model, const Examples& examples, const Answers& answers,
                         const TableOptions& options = {});

/// Returns notes that a user should read before using these answers. They concern: negative variances from
/// rounding that were set to 0; parts of the uncertainty that are not aleatoric and epistemic; means of rates
/// that depend on the tail of the distribution; a level that has no effect on classes; and the time of the
/// kept columns of windows.
std::vector<std::string> answer_notes(const Model& model, const Examples& examples, const Answers& answers,
                                      const TableOptions& options = {});

}  // namespace slimbayes
