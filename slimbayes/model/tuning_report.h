#pragma once

#include <nlohmann/json.hpp>

namespace slimbayes {

// The report of a search over options, which a model keeps; null if nothing was tuned. {"options": names,
// "combinations": their number, "tried": [{name: value, ..., "valid_nll": x or "failed": sentence}], "best":
// {name: value, ..., "valid_nll": x}, "spread": the largest valid_nll minus the smallest, "interrupted": true
// if the user stopped the search, "untried": the number of combinations that the time limit left out}.

/// Throws std::invalid_argument unless `report` has this form. Use it on reports from a file, whose contents
/// are not trusted.
void check_tuning_report(const nlohmann::json& report);

/// Returns whether the user stopped the search; false if nothing was tuned.
bool tuning_interrupted(const nlohmann::json& report);

}  // namespace slimbayes
