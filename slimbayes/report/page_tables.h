#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace slimbayes {

// The tables of the report's page, as HTML. `facts` are those of report_facts().

/// Returns figures with the coverage by quarter of the mean and of the sd and by the levels of each
/// categorical column; of classes the accuracy by level. "" if there are none.
std::string parts_html(const nlohmann::json& facts);

/// Returns the importance of the columns; "" if there is none.
std::string importance_html(const nlohmann::json& facts);

/// Returns the confusion matrix as a table whose cells are shaded; "" if there is none.
std::string confusion_html(const nlohmann::json& facts);

/// Returns the table of the most surprising rows.
std::string surprising_html(const nlohmann::json& facts);

}  // namespace slimbayes
