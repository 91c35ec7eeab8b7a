#pragma once

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/examples.h"
#include "slimbayes/data/split.h"

namespace slimbayes {

// The examples of a fit: what FitOptions ask for, and how they are split.

/// Returns the options of windows among those of a fit.
WindowOptions window_options(const FitOptions& options);

/// Throws std::invalid_argument if the options ask for another kind of input than these examples are, set an
/// option of another kind, name an absent column of text, or crop by an image's whole side or more.
void check_examples(const Examples& examples, const FitOptions& options);

/// Returns the examples that the options ask for. If they ask for windows, a table becomes its windows whose
/// target is in the table; other examples pass unchanged. Throws as check_examples and find_windows.
Examples examples_of(Examples given, const FitOptions& options);

/// Splits the examples into training, validation, calibration and test parts: windows by their time
/// (split_windows), other examples at random (split_rows).
SplitRows split_examples(const Examples& examples, const FitOptions& options);

/// Returns the groups that split_examples keeps together in one part, so that examples with identical inputs
/// are normally in the same part. Each window is its own group.
RowGroups groups_of(const Examples& examples, const FitOptions& options);

}  // namespace slimbayes
