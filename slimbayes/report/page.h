#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "slimbayes/catalog/option_tokens.h"

namespace slimbayes {

/// Returns the report as one HTML page, which needs no network and no script. `facts` are those of
/// report_facts(); the page shows their numbers and computes none. It is also well-formed XML. Texts of
/// foreign origin are escaped. `style` is how the notes and warnings name options; give the facts as they come,
/// before map_sentences(). Equal facts give equal bytes.
std::string report_page(const nlohmann::json& facts, OptionStyle style = OptionStyle::flags);

}  // namespace slimbayes
