#pragma once

#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split/split.h"

namespace slimbayes {

/// Moves examples from the held-out parts into the training part, so that the training part has an example of
/// every class. The split does not look at the target, and a network cannot learn a class that it never sees.
/// For each class without a training example, moves one held-out example together with its group (groups_of),
/// from a part that does not become empty by it. Returns a sentence on what was moved, or "" if nothing was.
/// Classes with a single row stay where they are (fit_task refuses them). Does nothing for images, for
/// windows and for the split "time" (whose parts follow their order in time), and for tasks other than
/// classification. O(n).
std::string keep_classes_in_training(const Examples& examples, const FitOptions& options, SplitRows& split);

}  // namespace slimbayes
