#pragma once

#include <string>

#include "cli/request.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/workflow/data_file.h"

namespace slimbayes::cli {

/// Runs a command and returns its exit code. Throws the library's exceptions. Each command has its own file.
int run_command(const FitRequest& request);
int run_command(const PredictRequest& request);
int run_command(const EvaluateRequest& request);
int run_command(const UpdateRequest& request);
int run_command(const MergeRequest& request);
int run_command(const CompareRequest& request);
int run_command(const GenerateRequest& request);
int run_command(const DemoRequest& request);

/// Sets the memory limits for all data that this process reads from now on.
void limit_tables(const TableLimits& limits);

/// Returns the source of the tool's data: files, and "-" for CSV on stdin.
DataSource data_source();

/// Logs a note if the fit of this model was interrupted: the model is then only the best found so far.
void log_interrupted(const Model& model);

}  // namespace slimbayes::cli
