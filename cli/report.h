#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/table.h"

namespace slimbayes::cli {

struct Cell {
  std::string text;
  bool best = false;
};

/// Rows of cells as aligned text: the first column to the left, the others to the right. The best cells are
/// bold on a terminal and marked `*` elsewhere.
std::string text_table(const std::vector<std::vector<Cell>>& rows);

/// The names of a report's metrics, of whatever task, in the order in which they are shown.
std::vector<std::string> metrics_of(const nlohmann::json& report);

/// A report of core/: a line a metric, in the target's units and, of a regression, standardised.
std::string report_table(const nlohmann::json& report, double level);

/// Four significant digits.
std::string rounded(double x);

/// Prints results to stdout; throws std::runtime_error when they could not be written.
void print(const std::string& text);
void print(const nlohmann::json& object);

/// A table to a file, or as CSV to stdout for "-".
void print_or_write(const std::string& out, const Table& table);

/// Refuses to write over a file that is read. `flag` names the output.
void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input);

/// Refuses a model file where the table belongs.
void check_model_first(const std::string& command, const std::string& model, const std::string& data);

}  // namespace slimbayes::cli
