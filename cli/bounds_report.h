#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/theory/certificate.h"
#include "slimbayes/theory/network_complexity.h"
#include "slimbayes/theory/truncation.h"

namespace slimbayes::cli {

/// Return a bound as a JSON object with its "name", "source", "assumptions" ([{text, status}]), whether it is
/// a "certificate", and its numbers. `network` names the member of an ensemble; else it is "".
nlohmann::json bound_json(const Truncation& truncation);
nlohmann::json bound_json(const Certificate& certificate, const std::string& network);
nlohmann::json bound_json(const NetworkComplexity& complexity, double c0, const std::string& network);

/// Returns the entry of a bound that cannot be computed, with the reason in words as "no_bound".
nlohmann::json without_bound(const std::string& name, const std::string& network, const std::string& reason);

/// Returns such an entry as text for a reader.
std::string bound_text(const nlohmann::json& bound);

}  // namespace slimbayes::cli
