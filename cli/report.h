#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/table.h"

namespace slimbayes::cli {

/// The names of a report's metrics, of whatever task, in the order in which they are shown.
std::vector<std::string> metrics_of(const nlohmann::json& report);

/// A report of core/: a line a metric, in the target's units and, of a regression, standardised.
std::string report_table(const nlohmann::json& report, double level);

/// The name of a class of classes_report(): the commonest one, or that with this number.
std::string class_name(const nlohmann::json& report, int64_t number = -1);

/// Prints results to stdout, JSON on a terminal as data_for(); throws std::runtime_error when they could not
/// be written.
void print(const std::string& text);
void print(const nlohmann::json& object);

/// A table to a file, or as CSV to stdout for "-" (on a terminal as data_for()). Text holds every digit of
/// the first `exact` columns and nine significant ones of the others, more where a number is so large beside
/// its row's `sd` that they would not show seven of the sd's; `lower` is rounded down and `upper` up. Parquet
/// and Feather hold every digit.
void print_or_write(const std::string& out, Table table, size_t exact = SIZE_MAX);

/// Refuses to write over a file that is read. `flag` names the output.
void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input);

/// Refuses a model file where the table belongs.
void check_model_first(const std::string& command, const std::string& model, const std::string& data);

}  // namespace slimbayes::cli
