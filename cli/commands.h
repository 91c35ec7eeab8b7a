#pragma once

#include <string>
#include <variant>

#include "cli/request.h"
#include "slimbayes/data/table/limits.h"
#include "slimbayes/model/data_file.h"
#include "slimbayes/model/joint/joint_model.h"
#include "slimbayes/model/model.h"

namespace slimbayes::cli {

/// Each function runs one command and returns its exit code. Errors are exceptions of the library. Each
/// command is defined in its own file.
int run_command(const FitRequest& request);
int run_command(const PredictRequest& request);
int run_command(const EvaluateRequest& request);
int run_command(const ReportRequest& request);
int run_command(const ExplainRequest& request);
int run_command(const UpdateRequest& request);
int run_command(const MergeRequest& request);
int run_command(const ExportRequest& request);
int run_command(const CompareRequest& request);
int run_command(const GenerateRequest& request);
int run_command(const DemoRequest& request);
int run_command(const RankAdviceRequest& request);
int run_command(const BoundsRequest& request);

/// Sets the memory limits that data_source() applies to all tables read from now on.
void limit_tables(const TableLimits& limits);

/// Sets the device on which the models that load_model() and load_asked() read from now on answer.
void answer_on(const std::string& device);

/// Returns the name of that device; "cpu" before answer_on().
const std::string& answering_device();

/// Returns the object with which all commands read their data: a path names a file, and "-" stands for CSV on
/// stdin.
DataSource data_source();

/// Returns those limits.
const TableLimits& limits_of_tables();

/// Returns the name of one or several data files for messages: "a.csv and 3 more files".
std::string name_of_files(const std::vector<std::string>& files);

/// Returns a source that reads these files as one table in the place of the first (read_tables). With a
/// model, throws std::invalid_argument for several files of images. `command` is for messages.
DataSource data_source(const std::string& command, const std::vector<std::string>& files);
DataSource data_source(const std::string& command, const std::vector<std::string>& files, const Model& model);

/// Reads a model of one target. Throws std::invalid_argument for a file of several: the message names the
/// targets, and `command` as one that does not take it.
Model load_model(const std::string& command, const std::string& path);

/// Reads a model of one target or of several.
std::variant<Model, JointModel> load_asked(const std::string& path);

/// Throws as load_model() for a file of several targets. Of a model of one target reads the file only.
void check_one_target(const std::string& command, const std::string& path);

/// Logs a note if the fit that wrote this model was interrupted: its parameters are then only the best found
/// so far.
void log_interrupted(const Model& model);

/// Returns Model::answers(), or JointModel::answers(), and meanwhile shows on stderr how much is done
/// (AnswerProgress). `title` begins the line.
Answers answers_with_progress(const std::string& title, const Model& model, const Examples& data,
                              const AnswerRequest& ask);
JointAnswers answers_with_progress(const std::string& title, const JointModel& model, const Examples& data,
                                   const AnswerRequest& ask);

}  // namespace slimbayes::cli
