#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/method/method.h"
#include "slimbayes/workflow/answers.h"
#include "slimbayes/workflow/model_parts.h"

namespace slimbayes {

/// A fitted method together with the encoder that maps a user's examples (rows of a table, windows, images,
/// texts) to its inputs and its answers back to the target's units. A model file holds one Model. Immutable;
/// safe to share between threads. Where a function takes examples, a model of windows also takes the table
/// itself and then answers for every window in it.
class Model {
 public:
  explicit Model(ModelParts parts) : parts_(std::move(parts)) {}

  /// Reads a model file. Throws DataError if it is damaged or names an unknown method.
  static Model load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;
  TensorFile to_file() const;
  static Model from_file(const TensorFile& file, const std::string& name);

  /// Returns how read_table must read a file for this model.
  Reading reading(bool with_target = false) const;

  /// Returns the examples in what was read: for windows, all windows of the table, or with `with_target` only
  /// those whose target is in the table; otherwise the data as given.
  Examples examples(Examples given, bool with_target = false) const;

  /// Returns the answers in the target's units; an intensity is per unit volume of the coordinates. The
  /// examples need no target. Every example has a finite answer; throws DataError if one has none (see
  /// answers()).
  Predictive answer(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns answer() for the examples that have one, and for the others the reason why not. For each level
  /// that is asked for also the interval, and for a calibrated model of classes the prediction set. Throws
  /// DataError in the model's name if no example has a finite answer and the examples are not to blame: some
  /// lie within the training range, or the middle of that range has no finite answer either.
  Answers answers(const Examples& examples, const AnswerRequest& ask = {},
                  const PredictOptions& options = {}) const;

  /// Returns answer() of a regression. Throws std::invalid_argument for another task.
  Regression predict(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns scores that may reveal examples unlike the training data; larger means further from them. [n]
  /// each. They are those of the answers (core/answers.h: "epistemic_sd" or "total_sd" of a regression,
  /// whichever ood_score() names; "mutual_information", "entropy" and "max_softmax" of classes, "log_rate_sd"
  /// of counts and intensities), those of the method's network (Fitted::ood: "energy", "logit_var"), and
  /// those of the inputs (data/input_scores.h: "distance", "outside"). Throws as answer().
  Scores ood(const Examples& examples) const;

  /// Returns the same scores from `answers` to these examples that were computed before, for the examples
  /// that have an answer. [m]
  Scores ood(const Examples& examples, const Answers& answers) const;

  /// Returns the interval of this level around an answer in the target's units: the conformal interval
  /// (core/conformal.h) if the model was calibrated, else the Gaussian one. Throws std::invalid_argument if
  /// the level needs more calibration rows, or more groups of rows with identical inputs, than there are.
  Interval interval(const Regression& p, double level) const;

  /// Returns the interval of an answer to any task. Classes have none.
  std::optional<Interval> interval(const Predictive& p, double level) const;

  /// Returns the metrics of the task on these examples: regression_report with interval(); classes_report
  /// with the names of the classes, and set_report if calibrated; counts_report; or events_report. For
  /// windows also persistence_report(), forecasts without a model. Throws if the target is absent or missing.
  /// Examples without an answer are left out, counted as "left_out" and listed in `bad`; without such a list,
  /// throws DataError.
  nlohmann::json evaluate(const Examples& examples, double level = 0.95,
                          std::vector<BadRow>* bad = nullptr) const;

  /// Returns the same report from `answers` to these examples that were computed before, at their first
  /// level. Examples without an answer are left out. Throws DataError if none has an answer,
  /// std::invalid_argument for answers without a level.
  nlohmann::json evaluate(const Examples& examples, const Answers& answers) const;

  /// Return the model that has learned these examples too, or no longer (Fitted::updated): the encoder, the
  /// features, the noise and the prior stay. They keep no split. Throw std::invalid_argument for a method
  /// without an exact posterior, a calibrated model, whose scores would not hold, and examples that do not
  /// fit; `without` also for examples that the model has not learned, as often as they are given.
  Model with(const Examples& examples) const;
  Model without(const Examples& examples) const;

  /// Returns the model with the posterior of these examples alone, as if it had learned no others: a shard
  /// that merged() joins. Several machines can so learn rows of their own around one model. Throws as with().
  Model shard(const Examples& examples) const;

  /// Returns the model that has learned the examples of both (Fitted::merged). Throws std::invalid_argument
  /// unless both have the same method, columns, network, noise and prior, and if all examples of one are
  /// among those of the other. Other examples that both have learned count twice, as repeated ones do (see
  /// shared_rows).
  Model merged(const Model& other) const;

  /// Returns how many of these examples have the cells of one that the model has learned already, or of one
  /// before them. with() counts them again.
  int64_t known_rows(const Examples& examples) const;

  /// Returns those of these examples that the model has learned, each at most as often as it has: what
  /// without() takes. Throws std::invalid_argument for a model that cannot be updated.
  Examples learned_among(const Examples& examples) const;

  /// Returns how many of the learned examples have the cells of one of these.
  int64_t learned_like(const Examples& examples) const;

  /// Whether learned examples are known by their cells (cell_hashes). In a file of an earlier version they
  /// are known by their encoding alone, in which different cells may look alike: unknown words, categories
  /// that were not in training.
  bool knows_cells() const { return parts_.by_cells; }

  /// Returns how many examples both models have learned: with equal cells, as often as both hold them.
  int64_t shared_rows(const Model& other) const;

  /// Everything that the model is made of; the functions below say what each part means.
  const ModelParts& parts() const { return parts_; }
  const std::string& method() const { return parts_.method; }
  const nlohmann::json& options() const { return parts_.options; }  // every option of the method
  /// After load(), `tune`, `level` and `threads` have their defaults: a model file does not keep them.
  const FitOptions& fit_options() const { return parts_.fit; }
  const InputEncoder& encoder() const { return *parts_.encoder; }
  const Schema& schema() const { return schema_of(*parts_.encoder); }
  const std::string& target() const { return target_of(*parts_.encoder); }
  const Fitted& fitted() const { return *parts_.fitted; }
  const SplitRows& split() const { return parts_.split; }
  /// hash_of() of the examples that the model was fitted on, which `evaluate --split` compares. After an
  /// update it stands for the rows in the posterior, in any order, and equals no hash_of().
  const std::string& data_hash() const { return parts_.data_hash; }
  /// Whether this is a shard(), or shards merged: its posterior lacks the rows of the model that was fitted.
  bool is_shard() const { return parts_.shard; }
  /// The scores of the calibration rows (conformal_scores of a regression, set_scores of classes) with their
  /// groups of identical inputs. It has no groups if the model was not calibrated.
  const ConformalScores& calibration() const { return parts_.calibration; }
  /// The event_probes() of the training events, encoded [p, d]; undefined for other tasks.
  const at::Tensor& probes() const { return parts_.probes; }
  /// Tuned::report, what the tuning tried; null if nothing was tuned.
  const nlohmann::json& tuning() const { return parts_.tuning; }
  /// The cross-fitted estimate of the noise, or a note on why there is none; empty if enough validation rows
  /// chose the noise.
  const NoiseEstimate& noise() const { return parts_.noise; }
  /// Whether the fit was stopped before its end; the model is then the best so far.
  bool interrupted() const;

 private:
  Predictive answer_to(const Dataset& data, const PredictOptions& options) const;
  /// Called if no example among `asked` has a finite answer. Throws DataError that blames the model, unless
  /// all of them lie outside the training range and the middle of that range has a finite answer.
  void check_answers_anything(const Examples& examples, const std::vector<int64_t>& asked,
                              const std::vector<BadRow>& bad) const;
  enum class Change { add, remove, shard };
  Model changed(const Examples& examples, Change change) const;
  void check_changeable(const char* change) const;
  /// row_hashes() of these examples, by the cells or, in older files, by the encoding alone.
  std::vector<int64_t> hashes_of(const Examples& examples, const Dataset& data) const;
  ModelParts parts_;
};

/// Returns the options of a fit around the network of the model FitOptions::network_from: what an example is
/// and how it is split come from that model, all else from `given`. Returns `given` if it names no model.
/// Throws DataError if it cannot be read, std::invalid_argument if its network has no linear output layer or
/// the method of `given` takes none.
FitOptions with_network_from(const FitOptions& given);

/// Splits the examples, fits the encoder on the training part, and fits the method. The options are checked
/// before the data are split. `valid` replaces the validation fraction by examples of its own. If few
/// validation rows choose a regression, its noise is estimated by cross-fitting (workflow/noise_folds.h).
/// `callback` receives the notes on the data (notes_before_training) before the training starts. `networks`
/// is FitContext::networks. Throws std::invalid_argument, DataError or NumericalError.
Model fit_model(const Examples& examples, const FitOptions& options, const Examples* valid = nullptr,
                Callback* callback = nullptr, CheckpointPolicy checkpoint = {},
                NetworkCache* networks = nullptr);

}  // namespace slimbayes
