#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "slimbayes/answers/conformal.h"
#include "slimbayes/answers/evaluation.h"
#include "slimbayes/answers/predictive.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/split/split.h"
#include "slimbayes/export.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

// A model of several targets. Each target has a Model of its own, by any method and for any task. What binds
// the targets is a Gaussian copula of those that are numbers or counts: with F_j the distribution that the
// model of target j answers for a row, and z_j = Phi^-1(F_j(y_j)) the normal score of its target,
//   (z_1, ..., z_k) ~ N(0, R),
// where R is the correlation of the scores of held-out rows. So the answer to one target alone is that of its
// Model, and the correlation acts where a statement is about several. Given the inputs, a target of classes
// is independent of the other targets.

/// The parts of a JointModel, made by a fit or read from a file.
struct JointParts {
  std::vector<Model> models;  // one for each target, at least two
  /// R, of the targets that are numbers or counts in the order of the models; an empty matrix if none is.
  ErrorCorrelation correlation;
  /// The conformal scores of the region: max_j |z_j| of the calibration rows in which all numbers and counts
  /// are known. No groups if the model is not calibrated.
  ConformalScores region = {};
  SplitRows split = {};        // the rows of the whole table that were dealt for all targets
  std::string data_hash = {};  // hash_of() the whole table
};

/// Answers to n rows by all models.
struct JointAnswers {
  std::vector<Answers> marginal;       // for each target its model's answers, which may lack some rows
  std::vector<int64_t> rows = {};      // [m] the rows that every model answers, ascending
  std::vector<Predictive> joint = {};  // for each target the answers to these m rows; empty if m = 0
};

/// A region that holds the numbers and counts of a row all at once with probability `level`: the box
///   lower_j = F_j^-1(Phi(-c)) <= y_j <= upper_j = F_j^-1(Phi(c)) for all j,
/// in which every target lies within c sds of a normal distribution.
struct JointRegion {
  double level = 0;
  double factor = 0;        // c
  bool conformal = false;   // whether c is the conformal factor of calibration rows; else from R
  at::Tensor lower, upper;  // [m, k] in the targets' units; a bound of a count may be infinite
};

/// A condition on one target, for JointModel::probability.
struct JointCondition {
  enum class Holds : uint8_t { above, at_most, is };

  std::string target;
  Holds holds = Holds::above;  // y > value, y <= value, or y is the class `label`
  double value = 0;            // in the target's units; for numbers and counts
  std::string label = {};      // for classes: the text of the class, or its number in another spelling
};

/// The metrics of a JointModel on some rows.
struct JointReport {
  /// For each target Model::evaluate of the rows in which it is known; empty if it is in none.
  std::vector<std::optional<Evaluation>> targets;
  /// The joint metrics (JointModel::evaluate_jointly); empty if no row has two numbers or counts.
  std::optional<JointEvaluation> joint;
  std::vector<std::string> notes = {};  // on rows without an answer
};

/// A fitted model of several targets of a table. Immutable; safe to share between threads.
class SLIMBAYES_EXPORT JointModel {
 public:
  /// Throws std::invalid_argument for fewer than two models, for two of one target, for models of other
  /// inputs than the rows of a table, and for a correlation of another number of targets.
  explicit JointModel(JointParts parts);

  /// Reads a file of several targets. Throws DataError if it is damaged or of another kind.
  static JointModel load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;
  /// One file: the file of the model of target i (from 1) under names that begin with "target.i.", and the
  /// joint parts under "joint.".
  TensorFile to_file() const;
  static JointModel from_file(const TensorFile& file, const std::string& name);

  const JointParts& parts() const { return parts_; }
  const std::vector<Model>& models() const { return parts_.models; }
  const ErrorCorrelation& correlation() const { return parts_.correlation; }
  std::vector<std::string> targets() const;  // in the order of the models
  /// The k targets that are numbers or counts, as places in models(), ascending: the columns of a region.
  const std::vector<size_t>& scored() const { return scored_; }

  /// As Model::on, of the model of each target.
  JointModel on(std::string_view device) const;

  /// Returns how read_table must read a file for all models, as Model::reading.
  Reading reading(bool with_targets = false) const;

  /// Returns the answers of all models. Calls options.progress with the share of their answers that is done;
  /// each model counts alike. Throws as Model::answers.
  JointAnswers answers(const Examples& rows, const AnswerRequest& ask = {},
                       const PredictOptions& options = {}) const;

  /// Returns draws of all targets together: [draws, m, targets] for the m rows of JointAnswers::rows. The
  /// scores z of numbers and counts are drawn from N(0, R), and y_j = F_j^-1(Phi(z_j)); of classes the number
  /// of a class is drawn from its probabilities. The same stream gives the same draws.
  at::Tensor draws(const JointAnswers& answers, int64_t draws, const Stream& stream) const;

  /// Returns the region of this level for the m rows. Its factor c is the conformal factor of the calibration
  /// rows if the model is calibrated, by which a new row lies inside with probability `level` or more
  /// whatever the errors are; else the c with P(max_j |z_j| <= c) = level under N(0, R). Throws
  /// std::invalid_argument if no target is a number or a count, and for a level that the calibration rows are
  /// too few for.
  JointRegion region(const JointAnswers& answers, double level) const;

  /// Returns the conditions that "target sign value" stands for. `sign` is one of > >= < <= = ==. Of a number
  /// >= is the same as > and < the same as <=, because no row is exactly at the bound; there is no =. Of
  /// counts the bounds are exact: a >= 3 becomes "above 2", and a = 3 "above 2" and "at most 3". Of classes
  /// there is = alone. Throws std::invalid_argument for another target or sign, for a value that is no finite
  /// number where one is due, and for a condition that does not suit the target's kind.
  std::vector<JointCondition> conditions(const std::string& target, const std::string& sign,
                                         const std::string& value) const;

  /// Returns for each of the m rows the probability that all conditions hold: that of N(0, R) of the box of
  /// their normal scores, times the probabilities of the classes. Several conditions on one target may be
  /// given, such as an interval. Throws std::invalid_argument for none, for a target or a class that the
  /// model has not, and for a condition that does not suit the target's kind. [m]
  at::Tensor probability(const JointAnswers& answers, const std::vector<JointCondition>& conditions) const;

  /// Returns the normal scores of the numbers and counts of the m rows, NaN where the cell is missing:
  /// [m, k]. The score of a count lies at random between those of the ends of its jump (marginal_scores), by
  /// a number that depends on the inputs of the row and the target alone. Throws if a column is absent.
  at::Tensor scores(const Table& table, const JointAnswers& answers) const;

  /// Returns the metrics of these rows, with intervals and regions of this level. Rows without an answer are
  /// left out, and the report's notes say so. Throws if a target's column is absent or no row has any target.
  JointReport evaluate(const Table& table, double level = 0.95) const;

  /// Returns the joint metrics of the rows that all models answer and in which at least two numbers or counts
  /// are known, from `answers`, which answers() gave for them: the scores of the joint answers beside those
  /// of the same answers taken as independent. Nothing if there are no such rows. Of more than 5,000 rows
  /// takes 5,000 at equal distances, because the energy score needs draws; it uses 50 of each row, with the
  /// numbers divided by their sds in training and the counts by those of the answers. The volume of the
  /// regions is absent if a bound is infinite. Throws as region().
  std::optional<JointEvaluation> evaluate_jointly(const Table& table, const JointAnswers& answers,
                                                  double level = 0.95) const;

 private:
  size_t place_of(const std::string& target) const;
  JointParts parts_;
  std::vector<size_t> scored_;
};

/// Reads the model in a file, which may be of one target or of several. Throws DataError if it is neither.
SLIMBAYES_EXPORT std::variant<Model, JointModel> load_any(const std::filesystem::path& path);

/// Returns for each target the sub-table of the rows in which it is known, and their places in the table;
/// `places` may be empty. Throws std::invalid_argument if the table lacks the column.
struct KnownRows {
  Table table;
  std::vector<int64_t> places;
};
SLIMBAYES_EXPORT KnownRows known_rows(const Table& table, const std::string& target);

}  // namespace slimbayes
