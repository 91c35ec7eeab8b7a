#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slimbayes/answers/evaluation.h"
#include "slimbayes/catalog/fit_options.h"
#include "slimbayes/data/input_encoder.h"
#include "slimbayes/export.h"
#include "slimbayes/method/method.h"
#include "slimbayes/model/answers.h"
#include "slimbayes/model/model_parts.h"

namespace slimbayes {

/// A fitted method together with its encoder. The encoder maps a user's examples (rows of a table, windows,
/// images, texts) to the method's inputs, and the answers back to the target's units. A model file holds one
/// Model. Immutable; safe to share between threads. If the examples of a model are windows of a time series,
/// functions that take examples also accept the table itself; they then use all windows in it.
class SLIMBAYES_EXPORT Model {
 public:
  explicit Model(ModelParts parts) : parts_(std::move(parts)) {}

  /// Reads a model file. Throws DataError if it is damaged or names an unknown method.
  static Model load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;
  TensorFile to_file() const;
  static Model from_file(const TensorFile& file, const std::string& name);

  /// Returns the model with its networks on the device of this name (FitOptions::device), where it then
  /// computes answers and scores; posteriors and the answers themselves stay on the CPU. A model from a file
  /// answers on the CPU, a fitted one on the device of its fit. A method without networks computes on the
  /// CPU. Throws std::invalid_argument for a device that this process cannot use.
  Model on(std::string_view device) const;
  at::Device device() const { return parts_.device; }

  /// Returns how read_table must read a file for this model, so that every column gets the kind that it had
  /// in training; with `with_target` also the target's column.
  Reading reading(bool with_target = false) const;

  /// Returns the examples in the data. For a model of windows, these are all windows of the table, or with
  /// `with_target` those whose target is in the table. For other models the data are returned as given.
  Examples examples(Examples given, bool with_target = false) const;

  /// Returns the answers in the target's units; an intensity is per unit volume of the coordinates. The
  /// examples need no target. Networks compute on device(), or on that of the options if it is not the CPU.
  /// All answers are finite: throws DataError if an example has no finite answer
  /// (see answers()).
  Predictive answer(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns the answers to the examples that have a finite one, and for the others the reason why not. Adds
  /// the interval for each requested level, and for a calibrated model of classes the prediction set.
  ///
  /// If no example has a finite answer, either the examples or the model must be at fault. Throws DataError
  /// that blames the model if some examples lie within the training range, or if the middle of that range has
  /// no finite answer either.
  Answers answers(const Examples& examples, const AnswerRequest& ask = {},
                  const PredictOptions& options = {}) const;

  /// Returns answer() of a regression. Throws std::invalid_argument for another task.
  Regression predict(const Examples& examples, const PredictOptions& options = {}) const;

  /// Returns out-of-distribution scores by name, [n] each; a larger score means farther from the training
  /// data. There are scores of the answers (answers/answers.h): for a regression "epistemic_sd" or "total_sd"
  /// (see ood_score()); for classes "mutual_information", "entropy" and "max_softmax"; for counts and
  /// intensities "log_rate_sd". There are scores of the method's network (Fitted::ood): "energy",
  /// "logit_var". And there are scores of the inputs (data/input_scores.h): "distance", "outside". Throws as
  /// answer().
  Scores ood(const Examples& examples) const;

  /// Returns the same scores, [m] each, for the m examples that have an answer in `answers`, which answers()
  /// gave for these examples.
  Scores ood(const Examples& examples, const Answers& answers) const;

  /// Returns the interval of this level around an answer in the target's units: the conformal interval
  /// (answers/conformal.h) of a calibrated model, by the present state of one that is adaptive, else the
  /// Gaussian one. `group` are the calibration groups of the rows (Answers::calibration_group), which a model
  /// with FitOptions::calibrate_by needs and no other uses. Throws std::invalid_argument if there are too few
  /// calibration rows, or groups of rows with identical inputs, for this level, and if groups are needed and
  /// absent.
  Interval interval(const Regression& p, double level, const std::vector<int64_t>& group = {}) const;

  /// Returns the interval of this level around an answer to any task; nothing for classes, which have sets
  /// instead of intervals.
  std::optional<Interval> interval(const Predictive& p, double level,
                                   const std::vector<int64_t>& group = {}) const;

  /// Returns the metrics of the task on these examples: regression_report with interval(); classes_report
  /// with the names of the classes, and set_report if calibrated; counts_report; events_report; or
  /// segmentation_report, image block by image block. For windows adds the scores of forecasts without a
  /// model (add_persistence). fields_to_json() makes JSON of them. If the model was fitted with weights and
  /// the examples have their column, every mean and share is by them (Evaluation::effective_rows), and
  /// examples of weight 0 are left out as if they were absent. Throws if the target's column is absent or
  /// a target is missing. With a list `bad`, examples without an answer are left out, counted as `left_out`
  /// and listed in `bad`; without it, throws DataError for them. Examples of weight 0 (scored_weights() of
  /// fit_options()) are left out.
  Evaluation evaluate(const Examples& examples, double level = 0.95,
                      std::vector<BadRow>* bad = nullptr) const;

  /// Returns the same metrics from `answers`, which answers() gave for these examples. The intervals are
  /// those of the first level in `answers`. Examples without an answer are left out. Throws DataError if no
  /// example has an answer, and std::invalid_argument for answers without a level.
  Evaluation evaluate(const Examples& examples, const Answers& answers) const;

  /// `with` returns the model that has also learned these examples. `without` returns the model whose
  /// posterior does not contain them any more (ExactPosterior::updated). Encoder, features, noise and prior
  /// stay the same. The result has no split. Both throw std::invalid_argument for a method without an exact
  /// posterior; for a calibrated model, because its calibration scores would no longer hold; for a model that
  /// was fitted with weights; and for examples that do not fit. Of an adaptive model `with` answers the
  /// examples, advances the state of the intervals by their targets in the order of time, and then lets the
  /// posterior learn them; by a method without an exact posterior the state alone changes (learns_rows()).
  /// `without` also throws if an example is given more often than the model has learned it.
  Model with(const Examples& examples) const;
  Model without(const Examples& examples) const;

  /// Returns a shard: this model with the posterior of these examples alone, without those of the original
  /// fit. Let several machines learn different rows with shards of the same model, then join the shards by
  /// merged(). Throws as with().
  Model shard(const Examples& examples) const;

  /// Returns the model that has learned the examples of both models (ExactPosterior::merged). Examples that
  /// both have learned count twice, as repeated examples do (see shared_rows). Throws std::invalid_argument
  /// as with(); if method, columns, network, noise or prior differ; or if all examples of one model have been
  /// learned by the other too.
  Model merged(const Model& other) const;

  /// Returns how many of these examples have the same cells as an example that the model has learned, or as
  /// an earlier one in `examples`. with() would count such examples again.
  int64_t known_rows(const Examples& examples) const;

  /// Returns those of `examples` that the model has learned, each at most as often as it has learned them.
  /// The result is a valid argument of without(). Throws std::invalid_argument for a model that cannot be
  /// updated.
  Examples learned_among(const Examples& examples) const;

  /// Returns how many of the learned examples have the same cells as one of `examples`. Use it after
  /// without() to see whether the model still holds copies of what it was to forget.
  int64_t learned_like(const Examples& examples) const;

  /// Returns how many examples both models have learned. Examples are recognised by equal cells. An example
  /// that one model has learned a times and the other b times counts min(a, b) times.
  int64_t shared_rows(const Model& other) const;

  /// The parts of the model. parts() returns all; the functions below return one each and explain it.
  const ModelParts& parts() const { return parts_; }
  const std::string& method() const { return parts_.method; }
  const nlohmann::json& options() const { return parts_.options; }  // every option of the method
  /// After load(), `tune`, `level`, `threads` and `device` have their defaults: a model file does not keep
  /// them.
  const FitOptions& fit_options() const { return parts_.fit; }
  const InputEncoder& encoder() const { return *parts_.encoder; }
  const Schema& schema() const { return schema_of(*parts_.encoder); }
  const std::string& target() const { return target_of(*parts_.encoder); }
  const Fitted& fitted() const { return *parts_.fitted; }
  const SplitRows& split() const { return parts_.split; }
  /// The hash (hash_of()) of the examples that the model was fitted on. `evaluate --split` compares it with
  /// that of its data. After an update it is a hash of the rows in the posterior, which does not depend on
  /// their order and never equals a hash_of().
  const std::string& data_hash() const { return parts_.data_hash; }
  /// Whether this is a shard() or a merge of shards: its posterior does not contain the rows of the original
  /// fit.
  bool is_shard() const { return parts_.shard; }
  /// The conformal scores of the calibration rows (conformal_scores of a regression, set_scores of classes)
  /// with their groups of identical inputs. ConformalScores::groups is 0 if the model was not calibrated.
  const ConformalScores& calibration() const { return parts_.calibration; }
  /// The groups of these scores by the column FitOptions::calibrate_by; empty without it.
  const GroupCalibration& group_calibration() const { return parts_.by_group; }
  /// Encoded training events [p, d] near which the integral of the intensity looks for peaks
  /// (event_probes()); undefined for other tasks.
  const at::Tensor& probes() const { return parts_.probes; }
  /// The combinations of options that tuning tried, with their scores; empty if nothing was tuned.
  const std::optional<TuningReport>& tuning() const { return parts_.tuning; }
  /// The estimate of the noise by cross-fitting, or a note on why there is none although the validation rows
  /// are few. Empty if the validation rows determined the noise well enough.
  const NoiseEstimate& noise() const { return parts_.noise; }
  /// Whether the caller stopped the training, the tuning or the estimation of the noise before its end. Early
  /// stopping does not count. After a stopped training, the model has the best parameters until then.
  bool interrupted() const;

 private:
  Predictive answer_to(const Dataset& data, const PredictOptions& options) const;
  /// Call it if none of the examples with the indices `asked` has a finite answer; `bad` holds the reasons.
  /// Throws DataError that blames the model, unless all these examples lie outside the training range and the
  /// middle of that range has a finite answer.
  void check_answers_anything(const Examples& examples, const std::vector<int64_t>& asked,
                              const std::vector<BadRow>& bad) const;
  enum class Change { add, remove, shard };
  Model changed(const Examples& examples, Change change) const;
  /// Returns the fitted method as one that can learn and forget rows. `change` is the command's name in
  /// messages. Throws std::invalid_argument for a method without an exact posterior and for a calibrated
  /// model.
  const ExactPosterior& changeable(const char* change) const;
  /// Returns one hash per example, which covers its cells and its encoding in `data` (row_hashes). [n]
  std::vector<int64_t> hashes_of(const Examples& examples, const Dataset& data) const;
  ModelParts parts_;
};

}  // namespace slimbayes
