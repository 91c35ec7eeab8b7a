#pragma once

#include <cstdint>
#include <string>

#include "slimbayes/data/table/table.h"
#include "slimbayes/serve/prediction_report.h"

namespace slimbayes::cli {

/// Writes a table to the file `out`, or as CSV to stdout if `out` is "-" (on a terminal through data_for()).
/// Text formats round numbers for readability: the first `exact` columns keep all digits, the others nine
/// significant digits. A number much larger than its row's `sd` keeps enough digits to resolve the sd to
/// seven digits. `lower` is rounded down and `upper` up, so that an interval never becomes narrower; so are
/// the columns of one of several targets, "a.lower" beside "a.sd". Parquet and Feather keep all digits.
void print_or_write(const std::string& out, Table table, size_t exact = SIZE_MAX);

/// Prints the report as JSON, with the lines of a table as its rows. They have the numbers that
/// print_or_write() prints. The rows are written one after the other, so that a long table is not in memory
/// as text.
void print_rows(PredictionReport report, Table table, size_t exact);

/// Returns whether print_or_write() keeps all digits in this file.
bool keeps_all_digits(const std::string& out);

/// Throws std::invalid_argument if `out` and `input` are the same file. The message names the command and the
/// flag of the output.
void check_not_input(const std::string& command, const std::string& flag, const std::string& out,
                     const std::string& input);

/// Throws std::invalid_argument if `out` is an existing file that is not a model, because writing a model
/// would replace it. A model is recognised by its name or its first bytes. An empty file may be replaced.
void check_replaces_model(const std::string& command, const std::string& flag, const std::string& out);

/// Throws std::invalid_argument if the user seems to have swapped the model file and the data: `data` is a
/// model and `model` is none, judging by names and first bytes.
void check_model_first(const std::string& command, const std::string& model, const std::string& data);

}  // namespace slimbayes::cli
