#pragma once

#include <string>
#include <vector>

#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes::cli {

/// Returns the conditions in the values of --probability. A value is one condition TARGET OP VALUE, or
/// several with commas between them; OP is one of > >= < <= = ==. Names of targets may hold blanks, commas
/// and operators: the longest name that an operator follows is meant, and a value ends before a comma that a
/// target and an operator follow. JointModel::conditions says what a condition means. Throws
/// std::invalid_argument for another text, and for a condition that does not suit the target's kind.
std::vector<JointCondition> conditions_of(const std::vector<std::string>& texts, const JointModel& model);

}  // namespace slimbayes::cli
