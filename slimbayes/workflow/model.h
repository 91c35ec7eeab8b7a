#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/core/conformal.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/families/method.h"
#include "slimbayes/workflow/answers.h"
#include "slimbayes/workflow/noise_folds.h"

namespace slimbayes {

/// kThreadsOfMethod resolved: 1 for a method that trains a network, else 0.
int fit_threads(const MethodInfo& method);

/// A fitted method with the way from a user's examples (rows of a table, windows, images, texts) to its
/// inputs and back to the target's units: what the model file holds. Immutable; safe to share between
/// threads. Where a function takes examples, a model of windows takes the table itself and answers for every
/// window in it.
class Model {
 public:
  /// Reads a model file. Throws DataError for a damaged one or one of an unknown method.
  static Model load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;
  TensorFile to_file() const;
  static Model from_file(const TensorFile& file, const std::string& name);

  /// How read_table is to read a file for this model.
  Reading reading(bool with_target = false) const { return reading_of(*encoder_, with_target); }

  /// The examples in what was read: of windows those of the table, with `with_target` those whose target is
  /// in it.
  Examples examples(Examples given, bool with_target = false) const;

  /// In the target's units; an intensity per unit of the coordinates. No target is needed. Every example has
  /// an answer, finite; throws DataError for one that has none (see answers()).
  Predictive answer(const Examples& examples, const PredictOptions& options = {}) const;

  /// answer() of those examples that have one, and why the others have none; where a level is given with its
  /// interval, and with its set of classes where the model was calibrated. Throws DataError in the model's
  /// name where all its answers overflow, some of them within the training range.
  Answers answers(const Examples& examples, std::optional<double> level = {},
                  const PredictOptions& options = {}) const;

  /// answer() of a regression. Throws std::invalid_argument for another task.
  Regression predict(const Examples& examples, const PredictOptions& options = {}) const;

  /// Scores by which a foreign example may be told, larger is further from the training data: that of the
  /// method (ood_score), those of classes ("mutual_information", "entropy", "uncertain": 1 - the largest
  /// probability), "log_rate_sd" of counts and intensities; of a table also "outside" and "distance" of the
  /// inputs (data/outside.h). Throws as answer().
  Scores ood(const Examples& examples) const;

  /// The same of answers to these examples that were computed before: of those that have one.
  Scores ood(const Examples& examples, const Answers& answers) const;

  /// The interval of this level around an answer in the target's units: that of core/conformal.h when the
  /// model was calibrated, else the Gaussian one. Throws std::invalid_argument for a level that needs more
  /// calibration rows, or more groups of rows with identical inputs.
  Interval interval(const Regression& p, double level) const;

  /// interval() of any answer; none of classes.
  std::optional<Interval> interval(const Predictive& p, double level) const;

  /// The report of the task's metrics on these examples (regression_report with interval(), classes_report
  /// with the names of the classes, and set_report where calibrated; counts_report; events_report). Throws
  /// when the target is absent or missing. An example without an answer is left out, counted as "left_out"
  /// and listed in `bad`; without such a list it throws DataError.
  nlohmann::json evaluate(const Examples& examples, double level = 0.95,
                          std::vector<BadRow>* bad = nullptr) const;

  /// The same of answers to these examples that were computed before, with their interval; those without one
  /// are left out. Throws DataError where none has an answer.
  nlohmann::json evaluate(const Examples& examples, const Answers& answers, double level) const;

  const std::string& method() const { return method_; }
  const nlohmann::json& options() const { return options_; }      // of the method
  const FitOptions& fit_options() const { return fit_options_; }  // but for `tune`, `level` and `threads`, which a file does not keep
  const InputEncoder& encoder() const { return *encoder_; }
  const Schema& schema() const { return schema_of(*encoder_); }
  const std::string& target() const { return target_of(*encoder_); }
  const Fitted& fitted() const { return *fitted_; }
  const SplitRows& split() const { return split_; }
  /// hash_of() of the examples that the model was fitted on. `evaluate --split` refuses any others.
  const std::string& data_hash() const { return data_hash_; }
  /// The calibration rows' scores (conformal_scores of a regression, set_scores of classes) with their groups
  /// of identical inputs; no group when the model was not calibrated.
  const ConformalScores& calibration() const { return calibration_; }
  /// event_probes() of the training events, encoded [p, d]; undefined for other tasks.
  const at::Tensor& probes() const { return probes_; }
  /// What was tried (Tuned::report); null when nothing was tuned.
  const nlohmann::json& tuning() const { return tuning_; }
  /// What the sd rests on beside the fit: empty where enough validation rows chose it.
  const NoiseEstimate& noise() const { return noise_; }
  /// The fit was stopped before its end: the model is the best so far.
  bool interrupted() const;

 private:
  friend Model fit_model(const Examples&, const FitOptions&, const Examples*, Callback*, CheckpointPolicy);
  Predictive answer_to(const Dataset& data, const PredictOptions& options) const;
  /// Of `asked` examples none has a finite answer. Throws DataError that blames the model unless all of them
  /// lie outside the training range and the middle of it has one.
  void check_answers_anything(const Examples& examples, const std::vector<int64_t>& asked,
                              const std::vector<BadRow>& bad) const;
  ConformalScores calibrated(const Examples& held_out, const std::vector<int64_t>& groups) const;
  void take_from(TensorFile& file);   // the file's own part, the method's tensors are left
  std::string source_ = "the model";  // its file
  std::string method_, data_hash_;
  nlohmann::json options_;
  FitOptions fit_options_;
  std::shared_ptr<const InputEncoder> encoder_;
  std::shared_ptr<const Fitted> fitted_;
  SplitRows split_;
  ConformalScores calibration_;
  at::Tensor probes_;  // event_probes() of a Cox process
  nlohmann::json tuning_;
  NoiseEstimate noise_;
};

/// Splits, encodes on the training examples, fits. What is asked for is checked before the data are split.
/// `valid` replaces the validation fraction by examples of its own. A regression that few validation rows
/// choose is cross-fitted for its noise (workflow/noise_folds.h). `callback` is told of what looks odd in the
/// data (notes_before_training) before the training starts. Throws std::invalid_argument, DataError or
/// NumericalError.
Model fit_model(const Examples& examples, const FitOptions& options, const Examples* valid = nullptr,
                Callback* callback = nullptr, CheckpointPolicy checkpoint = {});

/// What the options ask of these examples, before anything is fitted. check_target and task_asked throw
/// std::invalid_argument for a target that is absent.
void check_target(const Examples& examples, const FitOptions& options);
TaskKind task_asked(const Examples& examples, const FitOptions& options);
InputKind kind_asked(const Examples& examples, const FitOptions& options);

/// The method of the options, else the default of the target's task. Throws std::invalid_argument for one
/// that takes neither this kind of input nor this task.
const MethodInfo& method_for(const Examples& examples, const FitOptions& options);

}  // namespace slimbayes
