#pragma once

#include <string>

#include "slimbayes/model/model.h"

namespace slimbayes {

/// Returns a note on the calibration groups (FitOptions::calibrate_by) that have too few calibration rows for
/// a quantile of their own at this level: which they are, how many rows each has, and that the level then
/// holds on average only. "" if there are none.
std::string shared_groups_note(const Model& model, double level);

/// Returns a note on the answered examples whose cell no calibration row had: which cells, and how many
/// examples have each. "" if there are none. `answers` are those to `examples`.
std::string unseen_groups_note(const Model& model, const Examples& examples, const Answers& answers);

}  // namespace slimbayes
