#pragma once

#include <string>

#include "slimbayes/report/report_facts.h"

namespace slimbayes {

// The parts at the top of the report's page, as HTML.

/// Returns the title, the sentence at the head, the data and the warnings.
std::string header_html(const ReportFacts& facts);

/// Returns a box for each score.
std::string scores_html(const ReportFacts& facts);

/// Returns the notes on data and trust; "" if there are none.
std::string notes_html(const ReportFacts& facts);

/// Returns what the model is.
std::string card_html(const ReportFacts& facts);

}  // namespace slimbayes
