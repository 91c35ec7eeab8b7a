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

/// A fitted method together with its encoder. The encoder maps a user's examples (rows of a table, windows,
/// images, texts) to the method's inputs, and the answers back to the target's units. A model file holds one
/// Model. Immutable; safe to share between threads. Functions that take examples accept, for a model of
/// windows, also the table itself; they then answer for every window in it.
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

  /// Returns the examples in the data: for windows, all windows of the table (with `with_target` only those
  /// whose target is in the table); otherwise the data as given.
  Examples examples(Examples given, bool with_target = false) const;

  /// Returns the answers in the target's units; an intensity is per unit volume of the coordinates. The
  /// examples need no target. All answers are finite: throws DataError if an example has no finite answer
  /// (see answers()).
  Predictive answer(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns the answers to the examples that have one, and for the others the reason why not. Adds the
  /// interval for each requested level, and for a calibrated model of classes the prediction set. Throws
  /// DataError that blames the model if no example has a finite answer and the examples are not the cause:
  /// some lie within the training range, or the middle of that range has no finite answer either.
  Answers answers(const Examples& examples, const AnswerRequest& ask = {},
                  const PredictOptions& options = {}) const;

  /// Returns answer() of a regression. Throws std::invalid_argument for another task.
  Regression predict(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns out-of-distribution scores, [n] each; a larger score means farther from the training data. The
  /// scores come from the answers (core/answers.h: for a regression "epistemic_sd" or "total_sd", see
  /// ood_score(); for classes "mutual_information", "entropy" and "max_softmax"; for counts and intensities
  /// "log_rate_sd"), from the method's network (Fitted::ood: "energy", "logit_var"), and from the inputs
  /// (data/input_scores.h: "distance", "outside"). Throws as answer().
  Scores ood(const Examples& examples) const;

  /// Returns the same scores for the examples that have an answer, from `answers` that were computed before.
  /// [m]
  Scores ood(const Examples& examples, const Answers& answers) const;

  /// Returns the interval of this level around an answer in the target's units: the conformal interval
  /// (core/conformal.h) of a calibrated model, else the Gaussian one. Throws std::invalid_argument if there
  /// are too few calibration rows, or groups of rows with identical inputs, for this level.
  Interval interval(const Regression& p, double level) const;

  /// Returns the interval of an answer to any task. Classes have none.
  std::optional<Interval> interval(const Predictive& p, double level) const;

  /// Returns the metrics of the task on these examples: regression_report with interval(); classes_report
  /// with the names of the classes, and set_report if calibrated; counts_report; or events_report. For
  /// windows also persistence_report(), the scores of forecasts without a model. Throws if the target is
  /// absent or missing. With a list `bad`, examples without an answer are left out, counted as "left_out" and
  /// listed there; without it, throws DataError for them.
  nlohmann::json evaluate(const Examples& examples, double level = 0.95,
                          std::vector<BadRow>* bad = nullptr) const;

  /// Returns the same report from `answers` to these examples that were computed before, at the first of
  /// their levels. Examples without an answer are left out. Throws DataError if no example has an answer, and
  /// std::invalid_argument for answers without a level.
  nlohmann::json evaluate(const Examples& examples, const Answers& answers) const;

  /// `with` returns the model that has also learned these examples, `without` the model that has learned them
  /// no longer (ExactPosterior::updated). Encoder, features, noise and prior stay the same. The result has no
  /// split. Throw std::invalid_argument for a method without an exact posterior; for a calibrated model,
  /// whose scores would no longer hold; and for examples that do not fit. `without` also throws if an example
  /// is given more often than the model has learned it.
  Model with(const Examples& examples) const;
  Model without(const Examples& examples) const;

  /// Returns the model with the posterior of these examples alone: a shard for merged(). Use it to let
  /// several machines learn different rows around one model. Throws as with().
  Model shard(const Examples& examples) const;

  /// Returns the model that has learned the examples of both models (ExactPosterior::merged). Throws
  /// std::invalid_argument if method, columns, network, noise or prior differ, or if one model has learned
  /// only examples that the other has learned too. In other cases examples that both have learned count
  /// twice, as repeated examples do (see shared_rows).
  Model merged(const Model& other) const;

  /// Returns how many of these examples have the same cells as an example that the model has learned, or as
  /// an earlier one of these examples. with() would count them again.
  int64_t known_rows(const Examples& examples) const;

  /// Returns the examples that the model has learned, each at most as often as it has learned them: a valid
  /// argument of without(). Throws std::invalid_argument for a model that cannot be updated.
  Examples learned_among(const Examples& examples) const;

  /// Returns how many learned examples have the same cells as one of these examples.
  int64_t learned_like(const Examples& examples) const;

  /// Returns how many examples both models have learned, by equal cells. Repeated examples count as often as
  /// both models hold them.
  int64_t shared_rows(const Model& other) const;

  /// The parts of the model; the functions below explain each of them.
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
  /// hash_of() of the examples that the model was fitted on; `evaluate --split` compares it. After an update
  /// it identifies the rows in the posterior regardless of their order, and never equals a hash_of().
  const std::string& data_hash() const { return parts_.data_hash; }
  /// Whether this is a shard() or a merge of shards: its posterior does not contain the rows of the original
  /// fit.
  bool is_shard() const { return parts_.shard; }
  /// The scores of the calibration rows (conformal_scores of a regression, set_scores of classes) with their
  /// groups of identical inputs. There are no groups if the model was not calibrated.
  const ConformalScores& calibration() const { return parts_.calibration; }
  /// The event_probes() of the training events, encoded [p, d]; undefined for other tasks.
  const at::Tensor& probes() const { return parts_.probes; }
  /// The combinations that tuning tried (Tuned::report); null if nothing was tuned.
  const nlohmann::json& tuning() const { return parts_.tuning; }
  /// The cross-fitted estimate of the noise, or a note on why there is none. Empty if the noise comes from
  /// enough validation rows.
  const NoiseEstimate& noise() const { return parts_.noise; }
  /// Whether the caller stopped the training, the tuning or the estimation of the noise before its end. Early
  /// stopping does not count. After a stopped training, the model has the best parameters until then.
  bool interrupted() const;

 private:
  Predictive answer_to(const Dataset& data, const PredictOptions& options) const;
  /// Call it if no example among `asked` has a finite answer. Throws DataError that blames the model, unless
  /// all examples lie outside the training range and the middle of that range has a finite answer.
  void check_answers_anything(const Examples& examples, const std::vector<int64_t>& asked,
                              const std::vector<BadRow>& bad) const;
  enum class Change { add, remove, shard };
  Model changed(const Examples& examples, Change change) const;
  /// Returns the posterior, which can learn and forget rows. `change` names the command in messages. Throws
  /// std::invalid_argument for a method without an exact posterior and for a calibrated model.
  const ExactPosterior& changeable(const char* change) const;
  /// Returns row_hashes() of these examples, by their cells.
  std::vector<int64_t> hashes_of(const Examples& examples, const Dataset& data) const;
  ModelParts parts_;
};

/// Returns the options for a fit around the network of the model FitOptions::network_from. The options on
/// examples and split come from that model, all others from `given`. Returns `given` if it names no model.
/// Throws DataError if the model cannot be read, and std::invalid_argument if its network has no linear
/// output layer or the method of `given` does not take a network.
FitOptions with_network_from(const FitOptions& given);

/// Splits the examples, fits the encoder on the training part, and fits the method. The options are checked
/// before the data are split. `valid` is separate validation data, which replaces the validation fraction. If
/// the validation rows put the noise of a regression in doubt, it is estimated by cross-fitting
/// (workflow/noise_folds.h). `callback` receives the notes on the data (notes_before_training) before the
/// training starts. `networks` is FitContext::networks. Throws std::invalid_argument, DataError or
/// NumericalError.
Model fit_model(const Examples& examples, const FitOptions& options, const Examples* valid = nullptr,
                Callback* callback = nullptr, CheckpointPolicy checkpoint = {},
                NetworkCache* networks = nullptr);

}  // namespace slimbayes
