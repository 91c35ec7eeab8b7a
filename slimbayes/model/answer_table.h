#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/export.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// The answers of a model as a table with one line per example, ready to be written to a file.
struct AnswerTable {
  Table table;
  size_t exact = 0;  // number of leading columns copied from the data; write these unrounded
};

/// What answer_table() adds to the columns of the answer.
struct TableOptions {
  std::vector<std::string> kept = {};  // columns of the data to copy, before the answer
  std::vector<Column> more = {};       // columns to add after the answer
  bool parts = false;                  // show the parts of the sd for every method
  std::vector<double> quantiles = {};  // probabilities, in (0, 1), whose quantiles are columns
};

/// Throws std::invalid_argument unless this model's answers have these quantiles: for classes, a probability
/// that is not in (0, 1) or given twice, and one so far from 0.5 that the model has too few calibration rows
/// for it.
SLIMBAYES_EXPORT void check_quantiles(const Model& model, const std::vector<double>& probabilities);

/// Returns a table with one line per example. The columns, in this order:
/// - for windows, if `kept` names any column: "last_time", the time of the last row of the window;
/// - the columns `kept` of the data (for a window: the cells of its last row);
/// - for windows: the columns that tell one series from another (WindowOptions::group); "forecast_time", the
///   time of the predicted row; and "actual", the target of that row in its own units or as the name of its
///   class, if the data have the target for at least one window;
/// - the answer, with lower and upper as the ends of the interval:
///   numbers  mean, sd, the two parts of the sd, lower, upper, in the target's units. The parts are called
///            sd_aleatoric and sd_epistemic if the method separates these two kinds of uncertainty
///            (ood_score() gives "epistemic_sd"). Other methods show them only with TableOptions::parts, as
///            sd_noise (the sd of the noise) and sd_function (the sd of the latent function)
///   classes  p_CLASS, the probability of each class; entropy; mutual_information; label, the most probable
///            class; and for a calibrated model set, the plausible classes joined by "|"
///   counts   mean, sd, sd_aleatoric, sd_epistemic, lower, upper
///   events   mean, sd, lower, upper of the intensity
/// - the quantiles, such as "q0.05" for the probability 0.05: of numbers in the target's units, of counts the
///   least whole number at which the cdf reaches it, of events that of the intensity. A model with conformal
///   calibration scales distances from the median: below 0.5 the quantile at q is the lower end of the
///   interval of level 1 - 2q, above it the upper end of that of level 2q - 1; so the pair q, 1 - q holds the
///   level, while one quantile alone need not. A quantile too large for a double is a missing cell
/// - the columns `more`.
/// If `answers` has several levels, each level has its own columns lower_90, upper_90 or set_90 (for the
/// level 0.9). The cells of an example without an answer are missing. Throws std::invalid_argument if
/// `answers` has no level or is for another number of examples; if a column to keep or a group column has the
/// name of an answer's column or, for windows, is called last_time, forecast_time or actual; for `kept` with
/// images, which have no columns; and as check_quantiles().
SLIMBAYES_EXPORT AnswerTable answer_table(const Model& model, const Examples& examples,
                                          const Answers& answers, const TableOptions& options = {});

class JointModel;     // model/joint/joint_model.h
struct JointAnswers;  // there
struct JointRegion;   // there

/// Returns the answers of a model of several targets as a table with one line per row. The columns, in this
/// order: the columns `kept` of the data; for each target those of answer_table() for its model, their names
/// preceded by that of the target ("a.mean", "a.lower", "b.label"); with `region` for each number and count
/// "a.region_lower" and "a.region_upper" (JointModel::region); the columns `more`. The cells of a row without
/// an answer are missing, those of a region also where a model of another target has none. Targets of classes
/// have no quantiles. `rows` must be a table. Throws as answer_table().
SLIMBAYES_EXPORT AnswerTable joint_answer_table(const JointModel& model, const Examples& rows,
                                                const JointAnswers& answers, const TableOptions& options = {},
                                                const JointRegion* region = nullptr);

/// Returns draws of several targets as a table with one line for each draw of each row, row by row: "row",
/// the number of the row in its file (row_number); "draw", from 1; and a column of each target, numbers in
/// its units or the names of its classes. `draws` [S, m, targets] comes from JointModel::draws() for these
/// answers; rows that some model does not answer have no lines. Throws std::invalid_argument for a target
/// called row or draw, and for draws of another shape.
SLIMBAYES_EXPORT Table draws_table(const JointModel& model, const Table& rows, const JointAnswers& answers,
                                   const at::Tensor& draws);

/// Returns the sentence of answer_notes() on what the two parts of an sd mean; "" if there is none. `shown`:
/// whether the parts are shown although the method does not name them.
SLIMBAYES_EXPORT std::string parts_note(const Model& model, bool shown = false);

/// Returns sentences that a user should read before using these answers; empty if there are none. They
/// report: negative variances from rounding that were set to 0; what the two parts of an sd mean, if each
/// part alone is not calibrated; means of rates that lie above their interval; lower bounds below 0 although
/// all training targets were above 0; levels that have no effect on classes because the model is not
/// calibrated; cells of FitOptions::calibrate_by that no calibration row had; which row of a window the kept
/// columns come from; and what quantiles of a calibrated model
/// are.
SLIMBAYES_EXPORT std::vector<std::string> answer_notes(const Model& model, const Examples& examples,
                                                       const Answers& answers,
                                                       const TableOptions& options = {});

}  // namespace slimbayes
