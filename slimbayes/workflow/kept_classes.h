#pragma once

#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split.h"

namespace slimbayes {

/// Moves examples into the training part so that it has an example of every class. The split does not look at
/// the target, and a network cannot learn a class that it never sees. Moves the first held-out example of a
/// missing class together with its group (groups_of), if its part keeps other examples. Returns a sentence on
/// what was moved, or "". Classes with a single row stay where they are (fit_task refuses them). Does nothing
/// for images and windows, whose parts follow their order in time, and for tasks other than classification.
/// O(n).
std::string keep_classes_in_training(const Examples& examples, const FitOptions& options, SplitRows& split);

}  // namespace slimbayes
