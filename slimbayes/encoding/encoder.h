#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/data/table/table.h"
#include "slimbayes/encoding/bad_row.h"
#include "slimbayes/encoding/domain.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

struct ColumnStatistics;  // encoding/column_statistics.h

/// The statistics of the columns of a table, by their names.
using TableStatistics = std::map<std::string, ColumnStatistics>;

/// How Encoder::fit turns the columns of a table into features.
struct EncoderOptions {
  std::string target;                    // name of the target column; empty for events, which have none
  std::string scale = "min-max";         // numeric inputs: "min-max" to [-1, 1], or "standard": mean 0, sd 1
  std::vector<std::string> ignore = {};  // columns that are not inputs
  /// Rows from which the shift and scale of numeric inputs are computed: "train", or "all" for every row of
  /// the table, as the deep basis kernel paper (N) does.
  std::string scale_on = "train";
  std::optional<LikelihoodKind> likelihood = {};  // of the target; empty: the column decides (fit_task)
  std::vector<Axis> domain = {};            // for a Cox process: the box of the events, one axis per column
  std::vector<std::string> names = {};      // columns that the user declared to hold names (Reading)
  std::string target_scale = "standard";    // of a regression's target: "standard" or "centred", see fit_task
  std::optional<TargetBounds> bounds = {};  // of a regression's target
  /// Number of fitted rows that fill_gaps inserted (gaps.h), in which all inputs except for groups are
  /// missing; empty if missing cells are not carried forward. It changes the notes alone: they say "carried
  /// forward", and do not count the inserted rows.
  std::optional<int64_t> carried = {};
  /// Weight of each row of the table, each above 0: a row of weight w counts as w equal rows in the means and
  /// sds of inputs and target, and among the most frequent categories. Empty: each counts once. A fitted
  /// encoder does not keep them.
  std::vector<double> weights = {};
};

/// Turns the columns of a table into features, which are numbers. It is fitted on training rows only and
/// saved with the model.
/// - A numeric, boolean or date-time column gives one feature, which is scaled but never clamped.
/// - A categorical column gives one feature per level (one-hot). If training has more than 64 levels, the 63
///   most frequent have a feature each, and all other levels share the feature "other". A level not seen in
///   training sets "other" if the column has it, and gives zeros otherwise.
/// - A column with missing training cells also gives an indicator feature `name (missing)`. A missing number
///   is imputed with the training mean, a missing category with zeros.
/// - A column that is constant on the training rows gives no feature but the indicator, if it has missing
///   cells. These give no feature: a column of row labels (is_row_label) that the user did not declare to
///   hold names; columns that number the rows (numbering_columns), except in windows; a column of free text
///   (is_free_text); one of more than 64 dates in a notation that is not read; a column without any value.
/// - For events, every column is a numeric coordinate, scaled from its axis of the domain to [-1, 1].
class Encoder {
 public:
  /// Fits the inputs and the task on these rows. Throws std::invalid_argument if the target column does not
  /// exist or does not fit its likelihood, a column to ignore does not exist, no input is usable, there are
  /// no rows, or the domain of events does not fit the columns. Throws DataError if an input cell is infinite
  /// in a row from which the scale is computed, a target cell is missing, a target cell of a count task is
  /// not a count, or an event (a point of a Cox process) lies outside the domain.
  /// `all` (not owned; nullptr: none) has the statistics of all training rows where the table holds a sample
  /// of them: scales, levels and classes are then those of all rows, and only the notes those of the sample.
  /// `input_rows` (nullptr: `rows`), in which the target may be missing, are the rows that the inputs are
  /// fitted on: encoders of several targets that ignore each other then encode the inputs alike.
  SLIMBAYES_EXPORT static Encoder fit(const Table& table, const std::vector<int64_t>& rows,
                                      const EncoderOptions& options, const TableStatistics* all = nullptr,
                                      const std::vector<int64_t>* input_rows = nullptr);

  /// Fits the inputs alone, for a caller that encodes the target separately (WindowEncoder). `options` must
  /// have no target and no likelihood; schema().task keeps its defaults. Throws as fit().
  SLIMBAYES_EXPORT static Encoder fit_inputs(const Table& table, const std::vector<int64_t>& rows,
                                             const EncoderOptions& options);

  /// Writes the encoded inputs [n, d], finite, to `out`, row after row; d is the number of features of the
  /// schema, and `out` must have n d numbers. Columns are found by name, in any order; columns that
  /// training did not have are ignored. A missing cell is imputed as in training. Throws
  /// std::invalid_argument for a missing column and for a column of another kind than in training, with
  /// these exceptions: a column without any value, one of yes and no (as_trained), and a column that held
  /// categories in training and whose cells are now all read as numbers, booleans or times. A row is bad if
  /// a number lies more than kFarthest half-ranges (with the scale "standard": sds) from the middle of the
  /// training range (the training mean), or if an event lies outside the domain. Bad rows are appended to
  /// `bad` (ascending) and all their features are 0; if `bad` is nullptr, a bad row throws DataError.
  SLIMBAYES_EXPORT void inputs(const Table& table, std::span<float> out,
                               std::vector<BadRow>* bad = nullptr) const;

  /// Largest allowed absolute value of a scaled input. Further out, a prediction is rounding error: a float32
  /// weight w is rounded by up to 6e-8 w, which at x = 1e6 changes w x by 0.06 w, a twentieth of what w x
  /// changes over half the training range. Layer norms and exponentials overflow soon after.
  static constexpr double kFarthest = 1e6;

  /// Returns the encoded target [n] (see target_values): standardised numbers, class numbers or counts.
  /// Throws std::invalid_argument if the column is absent, and DataError, naming the row, for a missing cell
  /// or a class that was not in training.
  SLIMBAYES_EXPORT std::vector<double> target(const Table& table) const;

  /// Returns the table with its columns of yes and no as training had them: read as text or booleans, or
  /// stored as 0 and 1, they mean the same (encoding/bits.h).
  SLIMBAYES_EXPORT Table as_trained(Table table) const;

  /// Returns how read_table should read rows for this encoder: each column that the encoder uses (and, if
  /// `with_target`, the target) gets the kind that it had in training, even if the few rows of the file
  /// suggest another kind. Other columns are not needed.
  SLIMBAYES_EXPORT Reading reading(bool with_target) const;

  const Schema& schema() const { return schema_; }
  /// Returns the domain of events, one axis per coordinate; empty for other tasks.
  SLIMBAYES_EXPORT std::vector<Axis> domain() const;
  const std::string& target_name() const { return options_.target; }
  const std::string& scale_on() const { return options_.scale_on; }
  /// Returns sentences for the log about what training dropped, imputed or found odd in the columns.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns sentences about a table that is to be predicted or scored: columns not used, categories not seen
  /// in training, missing cells in columns without an indicator, rounded integers, and times that give an
  /// offset from UTC where training did not (or the reverse).
  SLIMBAYES_EXPORT std::vector<std::string> notes_for(const Table& table) const;

  SLIMBAYES_EXPORT nlohmann::json to_json() const;                        // doubles are restored exactly
  SLIMBAYES_EXPORT static Encoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

  /// Why the cells of a column are no input. constant_once_rounded: integers beyond 2^53 became one number.
  enum class Dropped : uint8_t {
    no,
    constant,
    constant_once_rounded,
    no_value,
    free_text,
    unread_dates,
    row_labels
  };

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
    double fill = 0;                  // mean of the training cells; replaces a missing cell
    std::vector<std::string> levels;  // sorted; one feature per level
    bool other = false;               // all levels that are not in `levels` share one feature
    bool indicator = false;           // one feature is 1 where the cell is missing
    std::optional<Range> range = {};  // set if `scaled`, except for events and in older model files
    Dropped dropped = Dropped::no;    // why the cells of the column are no input
    /// Date-time column: whether the times of training gave an offset from UTC. Empty for other columns and
    /// in older model files.
    std::optional<bool> offsets = {};

    SLIMBAYES_EXPORT int64_t width() const;  // number of features of this column; 0 if it gives none
    SLIMBAYES_EXPORT bool held_bits()
        const;  // whether it is a column of numbers whose training cells were 0 and 1
  };

  /// Returns how each column of the table is encoded, except for ignored columns and the target. The order is
  /// that of the features in an encoded row.
  const std::vector<Feature>& columns() const { return features_; }

 private:
  SLIMBAYES_EXPORT std::vector<std::pair<size_t, Column>> changed_bits(const Table& table) const;
  SLIMBAYES_EXPORT void fit_columns(const Table& table, const std::vector<int64_t>& rows,
                                    const TableStatistics* all = nullptr);
  SLIMBAYES_EXPORT static Encoder fit_events(const Table& table, const std::vector<int64_t>& rows,
                                             const EncoderOptions& options);
  EncoderOptions options_;
  Schema schema_;
  std::vector<Feature> features_;
  std::optional<ColumnKind> target_kind_;  // empty if there is no target (events), and in older files
  std::vector<std::string> notes_;
};

/// Returns whether a categorical column is an identifier or free text: more than 50 of its cells are present
/// (`cells`), and over 90 % of these differ from each other (`different` is the number of different cells).
/// The encoder drops such a column, and the split ignores it when it looks for identical rows.
SLIMBAYES_EXPORT bool is_free_text(size_t cells, size_t different);

/// Returns the names of the features that one column of the table gives, in the order of their values in an
/// encoded row: "size", "colour = red", "colour (other)", "size (missing)".
SLIMBAYES_EXPORT std::vector<std::string> feature_names(const Encoder::Feature& feature);

/// Returns the reason as text, such as "no value"; "" for `no`.
SLIMBAYES_EXPORT const char* name_of(Encoder::Dropped dropped);

}  // namespace slimbayes
