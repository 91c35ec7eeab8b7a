#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/catalog/method_choices.h"
#include "slimbayes/export.h"
#include "slimbayes/fit/fit_file.h"
#include "slimbayes/fit/fit_outcome.h"
#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes {

// A fit of several targets: a model for each, then the correlation of their held-out errors.
//
// Split         The rows of the whole table are dealt once into training, validation, calibration and test,
//               the same for every target (deal_targets). The fit of a target takes those rows of each part
//               in which its own cell is known. So the held-out errors of all targets belong to the same
//               rows.
// Targets       The fit of a target is that of fit_model on these rows with this split and the same seed:
//               same bits. The other targets are no inputs. A time limit is shared equally by the targets.
// Network       With FitOptions::share_network one network is trained for all targets first, and each fit
//               starts from it (joint/shared_network_fit.h).
// Validation    A method that normally holds out rows by itself (`auto` on few rows) gets the validation rows
//               too: without them no error would be held out.
// Correlation   of the normal scores of the validation and calibration rows (error_correlation), or of the
//               rows of separate validation data. Rows with wrong cells (FitOptions::wild_cells) are in it
//               for no target whose fit left them out. A method that trains again on its validation rows at
//               the end (`refit`) has seen them: its errors there are too small, which the correlation, free
//               of scale, hardly shows.
// Region        With FitOptions::calibrate "conformal", its scores are those of the calibration rows in which
//               all numbers and counts are known.

/// A request for a fit of several targets of a table.
struct JointRequest {
  FitOptions fit;              // `target` names several columns (targets_of); `method` serves all of them
  MethodChoices choices = {};  // preset and tuning, the same for each target
};

/// The result of a fit of several targets.
struct JointOutcome {
  std::optional<JointModel> model;  // absent if the fit was interrupted
  /// Joint metrics of the validation and test rows; empty if there are none. Those of the validation rows are
  /// optimistic: the correlation was estimated on them.
  std::optional<JointReport> valid = {}, test = {};
  std::vector<std::string> notes;
  bool interrupted = false;
};

/// Throws std::invalid_argument unless the request is one for several targets that a table can serve: if a
/// target is named twice, is no column, has no value, is also a column that FitOptions::ignore, time, group
/// or text names, or cannot be a target of the method; if the inputs are not the rows of a table (windows,
/// text, images), or a network is taken from another model; if no rows are held out; and if a target or its
/// method cannot share a network (check_shares_network). The message names the target. `valid` is separate
/// validation data or nullptr.
SLIMBAYES_EXPORT void check_targets_of(const Table& table, const JointRequest& request, const Table* valid);

/// Returns the parts of all rows that have at least one target, the same for every target. A class of any
/// target has a row in training if it can (keep_classes_in_training).
SLIMBAYES_EXPORT SplitRows deal_targets(const Table& table, const FitOptions& options,
                                        bool own_valid = false);

/// Fits all targets and returns the model with its held-out reports. `callback` gets a stage before each
/// target ("target 2 of 3: b"), and notes that begin with the target's name. `notes` are notes on the data.
/// Throws as check_targets_of and fit_model; of a wrong request for a target the message names the target.
SLIMBAYES_EXPORT JointOutcome fit_joint(const Table& table, const JointRequest& request, const Table* valid,
                                        const std::vector<std::string>& notes, Callback& callback);

/// Does the same and writes the model to the file that `file` has locked, without losing work: the model of
/// each finished target lies in MODEL.target-1, MODEL.target-2, ..., and a shared network in MODEL.network,
/// with the checkpoint of the one in training beside it, until the whole is written; then they are removed. A
/// file that resumes takes them, and takes a finished MODEL as it is; the result has the same bits as that of
/// a fit without a stop. One that does not resume removes what an unfinished fit has left. Throws also
/// std::invalid_argument if a file that it goes on from belongs to another fit.
SLIMBAYES_EXPORT JointOutcome fit_joint(const FitFile& file, const Table& table, const JointRequest& request,
                                        const Table* valid, const std::vector<std::string>& notes,
                                        Callback& callback);

}  // namespace slimbayes
