#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/data/table/table.h"

namespace slimbayes::cli {

/// Returns the names of the metrics in a report, for any task, in the order in which they are shown.
std::vector<std::string> metrics_of(const nlohmann::json& report);

/// Returns a report of core/answers.h as text, one line per metric, in the target's units and for a
/// regression also standardised. For windows the scores of forecasts without a model follow. `noun` is the
/// word for one example: "row", "window", "image".
std::string report_table(const nlohmann::json& report, double level, std::string_view noun);

/// Returns one line on a report on windows: the MAE or accuracy of the model and of the forecasts without a
/// model (workflow/persistence.h); "" if the report has none. `part` names the windows: "validation".
std::string forecasts_text(const nlohmann::json& report, std::string_view part);

/// Returns the quoted name of a class in a classes_report(): the class with this number, or for -1 the most
/// frequent one.
std::string class_name(const nlohmann::json& report, int64_t number = -1);

/// Prints results to stdout. JSON on a terminal is made safe by data_for(). Throws std::runtime_error if the
/// results could not be written.
void print(const std::string& text);
void print(const nlohmann::json& object);

/// Writes a table to a file, or as CSV to stdout for "-" (on a terminal through data_for()). In text formats
/// the first `exact` columns have all digits and the others nine significant digits. A number that is large
/// compared with its row's `sd` has enough digits to show seven digits of the sd. `lower` is rounded down and
/// `upper` up. Parquet and Feather hold all digits.
void print_or_write(const std::string& out, Table table, size_t exact = SIZE_MAX);

/// Throws std::invalid_argument if `out` and `input` are the same file. `flag` names the output in the
/// message.
void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input);

/// Throws std::invalid_argument if writing a model to `out` would replace a file that is not a model, judging
/// by its name and its first bytes. An empty file may be replaced.
void check_replaces_model(const std::string& command, const std::string& flag, const std::string& out);

/// Throws std::invalid_argument if the model file and the data seem to be swapped, judging by the names and
/// the contents of the files.
void check_model_first(const std::string& command, const std::string& model, const std::string& data);

}  // namespace slimbayes::cli
