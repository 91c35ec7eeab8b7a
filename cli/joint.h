#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/request.h"
#include "slimbayes/fit/fit_file.h"
#include "slimbayes/fit/joint_fit.h"
#include "slimbayes/model/joint/joint_model.h"

namespace slimbayes::cli {

// What fit, predict and evaluate do with several targets. Each function returns the exit code.

/// The data of a fit of several targets, and its request.
struct JointInputs {
  JointRequest request;
  Table train;
  std::optional<Table> valid = {};      // data of --valid
  std::vector<std::string> notes = {};  // on the data, from reading them
};

/// Fits the targets, writes the model to the file and prints the outcome.
int fit_jointly(const FitRequest& request, const FitFile& file, const JointInputs& inputs);

/// Answers the rows of the data: a table of the answers to each target, or joint draws.
int predict_jointly(const PredictRequest& request, const JointModel& model);

/// Scores the answers to each target, and those to all of them together.
int evaluate_jointly(const EvaluateRequest& request, const JointModel& model);

}  // namespace slimbayes::cli
