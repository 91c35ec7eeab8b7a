#pragma once

#include <string>

#include "slimbayes/catalog/option_tokens.h"
#include "slimbayes/export.h"
#include "slimbayes/report/report_facts.h"

namespace slimbayes {

/// Returns the report as one HTML page, which needs no network and no script. The page shows
/// the numbers of the facts and computes none. It is also well-formed XML. Texts of
/// foreign origin are escaped. `style` is how the notes and warnings name options; give the facts as they
/// come. Equal facts give equal bytes.
SLIMBAYES_EXPORT std::string report_page(const ReportFacts& facts, OptionStyle style = OptionStyle::flags);

}  // namespace slimbayes
