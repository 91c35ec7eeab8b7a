#pragma once

#include <string>

#include "slimbayes/report/report_facts.h"

namespace slimbayes {

// The tables of the report's page, as HTML.

/// Returns figures with the coverage by quarter of the mean and of the sd and by the levels of each
/// categorical column; of classes the accuracy by level. "" if there are none.
std::string parts_html(const ReportFacts& facts);

/// Returns the importance of the columns; "" if there is none.
std::string importance_html(const ReportFacts& facts);

/// Returns the confusion matrix as a table whose cells are shaded; "" if there is none.
std::string confusion_html(const ClassFacts& facts);

/// Returns the table of the most surprising rows.
std::string surprising_html(const ReportFacts& facts);

}  // namespace slimbayes
