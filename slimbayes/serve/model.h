#pragma once

#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/export.h"

namespace slimbayes {
struct TensorFile;  // storage/tensor_file.h
}

namespace slimbayes::serve {

/// The answer to one row, in units of the target.
struct Answer {
  double mean = 0;
  /// sd^2 is the sum of the squares of its two parts. Where describe() has the sd_parts "noise and function",
  /// as for dbk and dnn, the sum alone is calibrated, and the second part is not what the model does not
  /// know.
  double sd = 0, sd_aleatoric = 0, sd_epistemic = 0;
  double lower = 0, upper = 0;  // of the interval at the level that was asked for
};

/// The answer to a row of a classification, beside its probabilities.
struct ClassAnswer {
  size_t label = 0;               // number of the most probable class in Model::classes()
  double entropy = 0;             // of the probabilities, in nats
  double mutual_information = 0;  // its part that is ignorance of the model, in nats
};

/// How far a row lies from the training rows, over its columns of numbers, booleans and dates; NaN if there
/// are none, and for a text. Of a window: the largest of its rows, and the root mean square over them.
struct Scores {
  double beyond = 0;    // half-ranges beyond the training range of a column: the largest; 0 inside
  double distance = 0;  // root mean square over the columns of (x - training mean) / training sd
};

/// What a column of a row holds.
enum class ColumnType { number, boolean, category, time, text };

/// A column that the model takes: its name and type, and of categories those of training.
struct ColumnInfo {
  std::string name;
  ColumnType type = ColumnType::number;
  std::vector<std::string> levels = {};
};

/// A model file that answers rows without libtorch: a fit of numbers, counts or classes by a method and a
/// network that the engine knows, on the rows of a table, on windows of a series, or on texts. What is called
/// a row below is, for a model of windows, the rows of one window after each other, oldest first; for a model
/// of texts one text, whose numbers are its tokens and the padding. Immutable, so that threads share it. A
/// thread that has answered a row by predict() answers the next ones without an allocation, with up to eight
/// pairs of a model and a level in turn; it keeps that memory until it ends. The answers are those of
/// slimbayes::Model, to 1e-9 relative; of classes and counts, whose networks the model computes by libtorch,
/// to 1e-6.
///
///   const auto model = slimbayes::serve::Model::open("model.safetensors");
///   const auto answer = model.predict(std::vector<double>{540, 162, 28}, 0.9);
class SLIMBAYES_EXPORT Model {
 public:
  /// Opens the file, or its bytes, of which `name` is the name in messages. Contents may be untrusted. Throws
  /// DataError for a file that is damaged, of a newer version or not a model, and for one that cannot be
  /// served; the message says why.
  static Model open(const std::filesystem::path& path);
  static Model open(std::span<const std::byte> bytes, std::string_view name = "the model");
  Model(const Model&) = default;  // copies share the file's contents
  Model& operator=(const Model&) = default;
  ~Model() = default;

  /// Returns the columns of a row, in the order in which predict() takes them.
  const std::vector<ColumnInfo>& columns() const;
  /// Returns the numbers of texts and of numbers that one row takes: of a table as many as there are columns,
  /// of a window as many for each of its rows, of a text 1 and the most tokens that a text can have.
  size_t row_cells() const;
  size_t row_numbers() const;
  /// Returns the names of the classes in the order of their numbers; empty for numbers and counts.
  const std::vector<std::string>& classes() const;
  /// Returns what the file is, as a JSON object: method, task, target, columns, classes, the scale of the
  /// target, what the parts of the sd mean (Answer), whether intervals and sets are calibrated, of windows
  /// their rows, horizon and step (window), of texts their tokens (text).
  std::string describe() const;

  /// Answers a row of numbers, one a column; NaN is a missing cell, a boolean is 0 or 1, a time is seconds
  /// since 1970 UTC, and a category the index in ColumnInfo::levels (their number for any other). `level` is
  /// that of the interval. Throws std::invalid_argument for another number of cells, a number that is too far
  /// from the training rows (Encoder::kFarthest) or infinite, rows of a window that are not one step apart, a
  /// level that has no interval, and a model of classes; NumericalError if the answer overflows.
  Answer predict(std::span<const double> row, double level = 0.95) const;
  /// Answers a row of texts, as a CSV file has them. Throws also DataError for a text that is none of the
  /// column's type.
  Answer predict(std::span<const std::string_view> cells, double level = 0.95) const;
  /// Answers rows of numbers, row after row in `rows` [n, row_numbers()], to `out` [n]. Throws as
  /// predict(row) for the first row that it refuses, with its number from 1.
  void predict(std::span<const double> rows, std::span<Answer> out, double level = 0.95) const;

  /// Answers rows as predict(rows), up to the first that it refuses. Returns how many it answered, and in
  /// `refused` the exception of the next one; nullptr if there is none. Requires rows of the size of `out`.
  size_t predict_some(std::span<const double> rows, std::span<Answer> out, double level,
                      std::exception_ptr& refused) const;

  /// Answers a row of a classification, given as for predict(): writes the probabilities to p [classes].
  /// Throws as predict(), and std::invalid_argument for a model of another task.
  ClassAnswer classify(std::span<const double> row, std::span<double> p) const;
  ClassAnswer classify(std::span<const std::string_view> cells, std::span<double> p) const;

  /// Writes 1 to `set` [classes] for the classes in the row's prediction set at this level, and 0 for the
  /// others: that of Model::answers, randomised and perhaps empty, which holds the class of a new row with
  /// this probability. Throws as classify(), and std::invalid_argument for a model without calibration and
  /// for a level that its calibration rows are too few for.
  void prediction_set(std::span<const double> row, double level, std::span<unsigned char> set) const;

  /// Returns the quantile of the row's answer at this probability, in (0, 1); without calibration. Throws as
  /// predict().
  double quantile(std::span<const double> row, double probability) const;

  /// Writes the numbers of a row of texts, as predict(row) takes them, to out [row_numbers()]. Throws as
  /// predict().
  void numbers(std::span<const std::string_view> cells, std::span<double> out) const;

  /// Returns how far the row lies from the training rows. Throws std::invalid_argument for another number of
  /// cells.
  Scores scores(std::span<const double> row) const;

 private:
  struct State;
  explicit Model(std::shared_ptr<const State> state);
  static std::shared_ptr<const State> opened(const TensorFile& file, const std::string& name);
  std::shared_ptr<const State> state_;
};

}  // namespace slimbayes::serve
