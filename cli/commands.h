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

/// What fit and compare share with the library.
TableFit table_fit(const std::string& target, const std::string& method, const nlohmann::json& options,
                   uint64_t seed, const SplitRequest& rows);

}  // namespace slimbayes::cli
