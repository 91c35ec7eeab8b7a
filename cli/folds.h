#pragma once

#include "cli/request.h"

namespace slimbayes::cli {

/// Runs evaluate --folds: fits the method and the options of the model anew without each fold of the data,
/// scores the fold, and prints the scores of all folds together with their spread. Returns the exit code.
int score_folds(const EvaluateRequest& request);

}  // namespace slimbayes::cli
