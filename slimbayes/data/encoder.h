#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/bad_row.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/data/domain.h"
#include "slimbayes/data/table/table.h"

namespace slimbayes {

/// How Encoder::fit turns the columns of a table into features.
struct EncoderOptions {
  std::string target;                    // name of the target column; empty for events, which have none
  std::string scale = "min-max";         // numeric inputs: "min-max" to [-1, 1], or "standard": mean 0, sd 1
  std::vector<std::string> ignore = {};  // columns that are not inputs
  /// Rows that give the shift and scale of numeric inputs: "train", or "all" for every row, as N does.
  std::string scale_on = "train";
  std::optional<LikelihoodKind> likelihood = {};  // of the target; empty: chosen by its column, see fit_task
  std::vector<Axis> domain = {};          // for a Cox process: the box of the events, one axis per column
  std::vector<std::string> names = {};    // columns that are read as names, in training and later (Reading)
  std::string target_scale = "standard";  // of a regression's target: "standard" or "centred", see fit_task
  /// If missing cells are carried forward before they are imputed: how many of the rows lack every cell,
  /// being inserted. The encoding is the same; the notes say so.
  std::optional<int64_t> carried = {};
};

/// Turns the columns of a table into numbers. It is fitted on training rows only and saved with the model.
/// - A numeric, boolean or date-time column gives one feature, which is scaled but never clamped.
/// - A categorical column gives one feature per level (one-hot). A level not seen in training gives zeros. Of
///   more than 64 levels, the 63 most frequent have a feature each and the others share one.
/// - A column with missing training cells also gives an indicator feature `name (missing)`. A missing number
///   is imputed with the training mean, a missing category with zeros.
/// - A column that is constant on the training rows gives at most its indicator. A column of row labels
///   (is_row_label), a column of free text (is_free_text), and a column without any value give no feature.
/// - For events, every column is a numeric coordinate, scaled from its axis of the domain to [-1, 1].
class Encoder {
 public:
  /// Fits the inputs and the task on these rows. Throws std::invalid_argument if the target column does not
  /// exist or does not fit its likelihood, a column to ignore does not exist, no input is usable, there are
  /// no rows, or the domain of events does not fit the columns. Throws DataError if an input cell is infinite
  /// in a row from which the scale is computed, a target cell is missing, a target cell of a count task is
  /// not a count, or an event (a point of a Cox process) lies outside the domain.
  static Encoder fit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options);

  /// Fits the inputs alone, for a caller that encodes the target separately (WindowEncoder). `options` must
  /// have no target and no likelihood; the task and the target keep their defaults. Throws as fit().
  static Encoder fit_inputs(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options);

  /// Returns the encoded inputs [n, d], finite, float32. Columns are found by name, in any order; added
  /// columns are ignored. A missing cell is imputed as in training. Throws std::invalid_argument for a
  /// missing column or one of another kind than in training. Two cases of another kind are accepted: a column
  /// without any value, and a column of categories whose cells were all read as numbers, booleans or times.
  /// A row is bad if a number lies more than kFarthest half-ranges (sds with the scale "standard") from the
  /// middle (mean) of the training rows, or if an event lies outside the domain. Bad rows are appended to
  /// `bad` (ascending) and all their features are 0; if `bad` is nullptr, a bad row throws DataError.
  at::Tensor inputs(const Table& table, std::vector<BadRow>* bad = nullptr) const;

  /// Largest allowed absolute value of a scaled input. Further out, an answer is rounding error: float32
  /// weights have a relative rounding error of 6e-8, which at this distance moves a linear extrapolation by
  /// about a twentieth of its change over half the training range; and layer norms and exponentials soon
  /// overflow.
  static constexpr double kFarthest = 1e6;

  /// Returns the encoded target [n], float64, by target_values(). Throws std::invalid_argument if the column
  /// is absent, and DataError, naming the row, for a missing cell or a class that was not in training.
  at::Tensor target(const Table& table) const;

  /// Says how to read a file of rows for this encoder: the columns that it uses get the kinds of training,
  /// even if the few rows of the file suggest another kind; the other columns are not needed.
  Reading reading(bool with_target) const;

  /// Returns the inputs and, if `with_target`, the target. Events have no target.
  Dataset dataset(const Table& table, bool with_target) const;

  const Schema& schema() const { return schema_; }
  /// Returns the domain of events, one axis per coordinate; empty for other tasks.
  std::vector<Axis> domain() const;
  const std::string& target_name() const { return options_.target; }
  const std::string& scale_on() const { return options_.scale_on; }
  /// Sentences for the log about what training dropped, imputed or found odd.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns sentences about this table: columns not used, categories not seen in training, missing cells in
  /// columns without an indicator, rounded integers, times with offsets from UTC unlike those of training.
  std::vector<std::string> notes_for(const Table& table) const;

  nlohmann::json to_json() const;                        // doubles are restored exactly
  static Encoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

  /// Statistics of a column's training cells, in the column's units.
  struct Range {
    double low = 0, high = 0, sd = 0;
  };

  /// How one source column is encoded.
  struct Feature {
    std::string name;
    ColumnKind kind = ColumnKind::numeric;
    bool scaled = false;  // the column gives the feature (x - shift) / scale
    double shift = 0, scale = 1;
    double fill = 0;                  // training mean; replaces a missing cell
    std::vector<std::string> levels;  // sorted; one feature per level
    bool other = false;               // one feature is shared by all other levels
    bool indicator = false;           // one feature is 1 where the cell is missing
    std::optional<Range> range = {};  // set if `scaled`, but not for events and in older model files
    // Why the cells are not an input: "constant", "constant once rounded" (Column::large), "no value",
    // "identifier or free text" or "row labels". Empty if they are an input.
    std::string dropped = "";
    /// Of times: whether training gave their offsets from UTC. Empty for other kinds and in older model
    /// files.
    std::optional<bool> offsets = {};

    int64_t width() const;  // number of features; 0 if the column gives none
  };

  /// Every source column that is neither ignored nor the target, in the order of the features.
  const std::vector<Feature>& columns() const { return features_; }

 private:
  void fit_columns(const Table& table, const std::vector<int64_t>& rows);
  static Encoder fit_events(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options);
  EncoderOptions options_;
  Schema schema_;
  std::vector<Feature> features_;
  std::optional<ColumnKind> target_kind_;  // empty for events, without a target, and in older model files
  std::vector<std::string> notes_;
};

/// Returns whether a categorical column is an identifier or free text: it has more than 50 present cells
/// (`cells`), and over 90 % of them differ (`different`). The encoder drops such a column, and the split
/// ignores it when it looks for identical rows.
bool is_free_text(size_t cells, size_t different);

/// Returns the names of the features of one source column, in the order of their values in a row.
std::vector<std::string> feature_names(const Encoder::Feature& feature);

}  // namespace slimbayes
