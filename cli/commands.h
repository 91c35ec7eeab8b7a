#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/request.h"
#include "slimbayes/methods/table_model.h"

namespace slimbayes::cli {

/// One file each; they return an exit code and throw what the library throws.
int run_command(const FitRequest& request);
int run_command(const PredictRequest& request);
int run_command(const EvaluateRequest& request);
int run_command(const CompareRequest& request);
int run_command(const GenerateRequest& request);
int run_command(const DemoRequest& request);

/// Bounds on the tables that this command reads from now on.
void limit_tables(const TableLimits& limits);

/// A table to learn from, to score or to predict; "-" is CSV on stdin. Rows without the target, where there is one, are left
/// out with a note, to `notes` or the log.
Table read_rows(const std::string& path, const Reading& reading, const std::string& target = "",
                std::vector<std::string>* notes = nullptr);

/// read_rows() of a table to learn from; the lists of columns in `rows` become names. Throws std::invalid_argument for a
/// name that is no column.
Table read_training(const std::string& path, const std::string& target, SplitRequest& rows,
                    std::vector<std::string>* notes = nullptr);

/// What a list of columns may name before the columns are known: itself, since a name may hold a comma, or its parts.
std::vector<std::string> perhaps_named(const std::vector<std::string>& lists);

/// The columns of the table that the lists of a flag name, each once. Throws std::invalid_argument for a name that is no column.
std::vector<std::string> columns_named(const std::vector<std::string>& lists, const std::string& command,
                                       const std::string& flag, const Table& table);

/// What fit and compare share with the library.
TableFit table_fit(const std::string& target, const std::string& method, const nlohmann::json& options,
                   uint64_t seed, const SplitRequest& rows);

/// The report of evaluate, of the rows that have an answer, the others named in the log; null of no rows.
nlohmann::json report_on(const TableModel& model, const Table& rows, double level);

/// Says of a model whose fit was interrupted that it is the best so far.
void log_unfinished(const TableModel& model);

}  // namespace slimbayes::cli
