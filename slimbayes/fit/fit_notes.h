#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slimbayes/fit/resolved_fit.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns the notes that are known before the training: those on the split and the target
/// (SplitRows::notes), then those on the columns (notes_of). fit_notes() contains them too.
std::vector<std::string> notes_before_training(const InputEncoder& encoder, const SplitRows& split);

/// Returns a note on a device that was asked for and is not used: there is none for "auto", or the method
/// computes on the CPU alone. "" if there is nothing to say, and for one of several targets: fit_joint() says
/// it once for all. fit_resolved() tells the callback, fit_in_memory() adds it to the outcome's notes.
std::string device_note(const ResolvedFit& request);

/// Returns a note that names the rows of a table whose target is far from what the others predict
/// (Fitted::wild_rows): rows of `table`, the farthest first. "" if there are none.
std::string wild_rows_note(const Table& table, const std::string& target, const std::vector<int64_t>& rows);

/// Returns the notes that a user should read before using the numbers of a fitted model, one sentence each,
/// the most important first: whether held-out scores and intervals can be trusted and how the sd was
/// determined (Model::noise); the split and the target; the columns (Encoder::notes); and events during the
/// fit (Summary::notes, Summary::jitter). `valid` and `test` are the reports on the validation and the test
/// rows (report_on) at `level`; empty if there are no such rows.
std::vector<std::string> fit_notes(const Model& model, const std::optional<Evaluation>& valid,
                                   const std::optional<Evaluation>& test, double level);

}  // namespace slimbayes
