#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes {

// The parts at the top of the report's page, as HTML. `facts` are those of report_facts().

/// Returns the title, the sentence at the head, the data and the warnings.
std::string header_html(const nlohmann::json& facts);

/// Returns a box for each score.
std::string scores_html(const nlohmann::json& facts);

/// Returns the notes on data and trust; "" if there are none.
std::string notes_html(const nlohmann::json& facts);

/// Returns what the model is.
std::string card_html(const nlohmann::json& facts);

}  // namespace slimbayes
