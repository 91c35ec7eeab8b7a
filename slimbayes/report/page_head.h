#pragma once

#include <string>

#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/report/report_facts.h"

namespace slimbayes {

// The parts at the top of the report's page, as HTML. `style` is how sentences name options.

/// Returns the title, the sentence at the head, the data and the warnings.
std::string header_html(const ReportFacts& facts, OptionStyle style);

/// Returns a box for each score.
std::string scores_html(const ReportFacts& facts);

/// Returns the notes on data and trust; "" if there are none.
std::string notes_html(const ReportFacts& facts, OptionStyle style);

/// Returns the section on the model (ModelCard).
std::string card_html(const ReportFacts& facts, OptionStyle style);

}  // namespace slimbayes
