#pragma once

#include <string>

#include "cli/request.h"
#include "slimbayes/data/table_limits.h"
#include "slimbayes/workflow/data_file.h"

namespace slimbayes::cli {

/// One file each; they return an exit code and throw what the library throws.
int run_command(const FitRequest& request);
int run_command(const PredictRequest& request);
int run_command(const EvaluateRequest& request);
int run_command(const CompareRequest& request);
int run_command(const GenerateRequest& request);
int run_command(const DemoRequest& request);

/// Bounds on the data that this command reads from now on.
void limit_tables(const TableLimits& limits);

/// Files, and "-" for CSV on stdin.
DataSource data_source();

/// Says of a model whose fit was interrupted that it is the best so far.
void log_unfinished(const Model& model);

}  // namespace slimbayes::cli
