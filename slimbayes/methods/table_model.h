#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "slimbayes/core/conformal.h"
#include "slimbayes/data/encoder.h"
#include "slimbayes/data/split.h"
#include "slimbayes/data/table.h"
#include "slimbayes/methods/answers.h"
#include "slimbayes/methods/method.h"
#include "slimbayes/methods/noise_folds.h"

namespace slimbayes {

/// As many threads as suit the method: fit_threads.
inline constexpr int kThreadsOfMethod = -1;

/// 1 for a method that trains a network, whose short steps gain little from more and wait for each other beside other
/// work; else 0, as many as the process uses.
int fit_threads(const MethodInfo& method);

/// How a table becomes a model.
struct TableFit {
  std::string target;  // column to predict; empty for events, which have none
  std::string method = "dbk";
  nlohmann::json options = nlohmann::json::object();  // of the method; absent keys keep their defaults
  uint64_t seed = 0;                                  // of weights and batches
  uint64_t split_seed = 0;                            // of the split, so that seeds share one
  double valid_fraction = 0.1;                        // of all rows, ceil
  double test_fraction = 0;                           // of all rows, ceil
  std::string split = "auto";                         // "grouped" or "random" (SplitOptions)
  std::string scale = "";                             // of numeric inputs; empty: the method's own
  std::vector<std::string> ignore = {};               // columns that are no inputs
  std::optional<LikelihoodKind> likelihood = {};  // none: by the target's column
  std::string domain = "";      // of events, LOW:HIGH for each coordinate, comma-separated
  std::string scale_on = "train";       // rows that give the inputs' range; "all": every row, as N does
  std::string calibrate = "";           // "conformal": intervals calibrated on rows of their own
  double calibration_fraction = 0.1;    // of all rows, ceil; none without `calibrate`
  double level = 0.95;                  // that the calibration rows must be enough for
  std::vector<std::string> names = {};  // columns that `table` was read with as names (Reading)
  std::vector<std::string> tune = {};   // options to choose by validation NLL (methods/tuning.h)
  /// Folds that estimate a regression's noise where fewer than 30 validation rows choose the parameters, and at most 2,000
  /// rows train (methods/noise_folds.h); 0: none.
  int64_t noise_folds = 5;
  int threads = kThreadsOfMethod;  // while it fits; 0: as many as the process uses
};

/// A fitted method with the way from a table's columns to its inputs and back to the target's units: what the
/// model file holds.
class TableModel {
 public:
  /// Reads a model file. Throws DataError for a damaged one or one of an unknown method.
  static TableModel load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;
  TensorFile to_file() const;
  static TableModel from_file(const TensorFile& file, const std::string& name);

  /// How read_table is to read a file for this model.
  Reading reading(bool with_target = false) const { return encoder_->reading(with_target); }

  /// In the target's units; an intensity per unit of the coordinates. No target column is needed. Every row has an answer,
  /// finite; throws DataError for one that has none (see answers()).
  Predictive answer(const Table& table, const PredictOptions& options = {}) const;

  /// answer() of those rows that have one, and why the others have none; where a level is given with its interval, and
  /// with its set of classes where the model was calibrated.
  /// Throws DataError in the model's name where all its answers overflow, some of them within the training range.
  Answers answers(const Table& table, std::optional<double> level = {},
                  const PredictOptions& options = {}) const;

  /// answer() of a regression. Throws std::invalid_argument for another task.
  Regression predict(const Table& table, const PredictOptions& options = {}) const;

  /// Scores by which a foreign row may be told, larger is further from the training data: that of the method (ood_score),
  /// those of classes ("mutual_information", "entropy", "uncertain": 1 - the largest probability), "log_rate_sd" of counts
  /// and intensities; beside them, of any method, "outside" and "distance" of the inputs (data/outside.h). Throws as
  /// answer().
  Scores ood(const Table& table) const;

  /// The interval of this level around an answer in the target's units: that of core/conformal.h when the model was
  /// calibrated, else the Gaussian one. Throws std::invalid_argument for a level that needs more calibration rows, or
  /// more groups of rows with identical inputs.
  Interval interval(const Regression& p, double level) const;

  /// interval() of any answer; none of classes.
  std::optional<Interval> interval(const Predictive& p, double level) const;

  /// The report of the task's metrics on this table's rows (regression_report with interval(), classes_report with the
  /// names of the classes, and set_report where calibrated; counts_report; events_report). Throws when the target is absent or missing. A row without an
  /// answer is left out, counted as "left_out" and listed in `bad`; without such a list it throws DataError.
  nlohmann::json evaluate(const Table& table, double level = 0.95, std::vector<BadRow>* bad = nullptr) const;

  const std::string& method() const { return method_; }
  const nlohmann::json& options() const { return options_; }
  const Encoder& encoder() const { return *encoder_; }
  const Fitted& fitted() const { return *fitted_; }
  const SplitRows& split() const { return split_; }
  /// Hash of the table that was fitted on; `evaluate --split` asks for the same one.
  const std::string& table_hash() const { return table_hash_; }
  /// The calibration rows' scores (conformal_scores of a regression, set_scores of classes) with their groups of identical
  /// inputs; no group when the model was not calibrated.
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
  friend TableModel fit_table(const Table&, const TableFit&, const Table*, Callback*, CheckpointPolicy);
  Predictive answer_to(const Dataset& data, const PredictOptions& options) const;
  /// Of `asked` rows none has a finite answer. Throws DataError that blames the model unless all of them lie outside the
  /// training range and the middle of it has one.
  void check_answers_anything(const Table& table, const std::vector<int64_t>& asked,
                              const std::vector<BadRow>& bad) const;
  ConformalScores calibrated(const Table& held_out, const std::vector<int64_t>& groups) const;
  void take_from(TensorFile& file);   // the file's own part, the method's tensors are left
  std::string source_ = "the model";  // its file
  std::string method_, table_hash_;
  nlohmann::json options_;
  std::shared_ptr<const Encoder> encoder_;
  std::shared_ptr<const Fitted> fitted_;
  SplitRows split_;
  ConformalScores calibration_;
  at::Tensor probes_;  // event_probes() of a Cox process
  nlohmann::json tuning_;
  NoiseEstimate noise_;
};

/// Splits, encodes on the training rows, fits. `valid` replaces the validation fraction by a table of its
/// own. A regression that few validation rows choose is cross-fitted for its noise (methods/noise_folds.h). `callback` is
/// told of what looks odd in the table (notes_before_training) before the training starts. Throws
/// std::invalid_argument, DataError or NumericalError.
TableModel fit_table(const Table& table, const TableFit& fit, const Table* valid = nullptr,
                     Callback* callback = nullptr, CheckpointPolicy checkpoint = {});

/// XXH3 over names, kinds, levels and cells.
std::string table_hash(const Table& table);

}  // namespace slimbayes
