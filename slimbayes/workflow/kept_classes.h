#pragma once

#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split.h"

namespace slimbayes {

/// Moves examples into the training part so that each class has one there: a network cannot learn a class
/// that it never sees, and the split does not look at the target. Moves the first held-out example of such a
/// class, with those that the split keeps beside it (groups_of), out of a part that keeps others. Returns a
/// sentence on what was moved, or "". Classes with a single row stay where they are (fit_task refuses them).
/// Does nothing to images and windows, whose parts follow their time, and to another task than
/// classification. O(n).
std::string keep_classes_in_training(const Examples& examples, const FitOptions& options, SplitRows& split);

}  // namespace slimbayes
