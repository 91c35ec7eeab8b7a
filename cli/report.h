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
/// regression also standardised; for windows then those of forecasts without a model. `noun` is the word for
/// one example: "row", "window", "image".
std::string report_table(const nlohmann::json& report, double level, std::string_view noun);

/// Returns one line on a report on windows: the MAE or accuracy of the model and of the forecasts without a
/// model (workflow/persistence.h); "" for a report without these. `part` names the windows: "validation".
std::string forecasts_text(const nlohmann::json& report, std::string_view part);

/// Returns the name of a class in a classes_report(), in quotes: the class with this number, or for -1 the
/// commonest one.
std::string class_name(const nlohmann::json& report, int64_t number = -1);

/// Prints results to stdout. JSON on a terminal is made safe by data_for(). Throws std::runtime_error if the
/// results could not be written.
void print(const std::string& text);
void print(const nlohmann::json& object);

/// Writes a table to a file, or as CSV to stdout for "-" (on a terminal through data_for()). Text formats
/// hold every digit of the first `exact` columns and nine significant digits of the others. A number that is
/// large relative to its row's `sd` gets more, enough to show seven digits of the sd. `lower` is rounded down
/// and `upper` up. Parquet and Feather hold every digit.
void print_or_write(const std::string& out, Table table, size_t exact = SIZE_MAX);

/// Throws std::invalid_argument if `out` and `input` are the same file. `flag` names the output in the
/// message.
void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input);

/// Throws std::invalid_argument if a model written to `out` would replace a file that is no model, judging by
/// its name and its first bytes. An empty file may be replaced.
void check_replaces_model(const std::string& command, const std::string& flag, const std::string& out);

/// Throws std::invalid_argument if the model file and the data seem to be swapped, judging by the names and
/// the contents of the files.
void check_model_first(const std::string& command, const std::string& model, const std::string& data);

}  // namespace slimbayes::cli
