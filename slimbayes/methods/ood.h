#pragma once

#include <string>

#include "slimbayes/core/predictive.h"

namespace slimbayes {

/// Scores of an answer by which a foreign row may be told, larger is further from the training data. Of a regression the
/// one that `score` names (catalog/methods.h: "epistemic_sd", "total_sd", or none); of classes "mutual_information",
/// "entropy" and "uncertain" (1 - the largest probability); else "log_rate_sd". [n] each
Scores ood_scores(const Predictive& answer, const std::string& score);

}  // namespace slimbayes
