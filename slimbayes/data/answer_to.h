#pragma once

#include "slimbayes/answers/predictive.h"
#include "slimbayes/encoding/task.h"

namespace slimbayes {

/// Returns whether the predictive `p` belongs to this task: it is of the task's kind and, for a
/// classification, has one probability per class.
bool is_answer_to(const Predictive& p, const Task& task);

}  // namespace slimbayes
