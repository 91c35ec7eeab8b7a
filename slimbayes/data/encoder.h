#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/data/bad_row.h"
#include "slimbayes/data/dataset.h"
#include "slimbayes/data/domain.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

struct EncoderOptions {
  std::string target;                    // name of the target column; empty for events, which have none
  std::string scale = "min-max";         // numeric inputs: "min-max" to [-1, 1], or "standard": mean 0, sd 1
  std::vector<std::string> ignore = {};  // columns that are no inputs
  std::string scale_on =
      "train";  // rows that give the numeric inputs' shift and scale; "all": every row, as N does
  std::optional<LikelihoodKind> likelihood = {};  // of the target; none: by its column, see fit_task
  std::vector<Axis> domain = {};        // of the events of a Cox process, an axis a column
  std::vector<std::string> names = {};  // columns that were read as names (Reading), and are to be again
};

/// From a table's columns to numbers, fitted on training rows only and saved with the model. A numeric,
/// boolean or date-time column gives one feature (scaled, never clamped), a categorical one a feature a level
/// (one-hot; a level not seen in training gives zeros; of more than 64 levels the 63 most frequent are kept
/// and the others share a feature). A column with missing training cells gives an indicator `name (missing)`
/// beside the imputed mean (zeros for categories). A column that is constant on the training rows gives no
/// feature, nor does a categorical one whose cells nearly all differ (over 90 % of more than 50): an
/// identifier or free text; its indicator stays. Events have their coordinates alone: every column is numeric
/// and scaled from its axis of the domain to [-1, 1].
class Encoder {
 public:
  /// Throws std::invalid_argument: target absent or not one of its likelihood, unknown column to ignore, no
  /// usable input, no rows, a domain that does not fit the columns. Throws DataError: an infinite cell among
  /// `rows`, one of the target that is missing or no count where counts are asked for; an event outside the
  /// domain.
  static Encoder fit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options);

  /// The inputs alone, where the target is known otherwise: `options` has none, and task and target stay the
  /// defaults. Throws as fit().
  static Encoder fit_inputs(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options);

  /// Inputs only, finite, float64. [n, d]. Columns are found by name: another order and added columns are
  /// fine; a missing column or another kind throws std::invalid_argument (a column without any value fits
  /// every kind, and categories may all look like numbers). A missing cell is imputed with the training mean.
  /// A row is bad with a number more than kFarthest half-ranges (sds where the scale is standard) from the
  /// middle of the training rows, and with an event outside the domain: it is listed in `bad` (ascending) and
  /// 0 throughout, or, without such a list, throws DataError.
  at::Tensor inputs(const Table& table, std::vector<BadRow>* bad = nullptr) const;

  /// A network's float32 weights are known to 6e-8 of themselves: at this distance their rounding alone moves
  /// a linear extrapolation by a twentieth of the training range, and layer norms and exponentials soon
  /// overflow.
  static constexpr double kFarthest = 1e6;

  /// The target as the task has it (target_values), float64. [n]. Throws when the column is absent or holds a
  /// missing cell (with its row).
  at::Tensor target(const Table& table) const;

  /// How a file of rows for this encoder is to be read: the columns it uses by the kinds that training saw,
  /// whatever the few rows at hand look like; the others do not matter.
  Reading reading(bool with_target) const;

  /// inputs and, if `with_target`, target; events have none.
  Dataset dataset(const Table& table, bool with_target) const;

  const Schema& schema() const { return schema_; }
  /// Of events, an axis a coordinate; else empty.
  std::vector<Axis> domain() const;
  const std::string& target_name() const { return options_.target; }
  const std::string& scale_on() const { return options_.scale_on; }
  /// Sentences about what was dropped or imputed in training, for the log.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Sentences about this table: categories not seen in training, cells imputed without an indicator, columns
  /// unused.
  std::vector<std::string> notes_for(const Table& table) const;

  nlohmann::json to_json() const;                        // doubles survive exactly
  static Encoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

  /// Of a column's training cells.
  struct Range {
    double low = 0, high = 0, sd = 0;
  };

  /// One source column.
  struct Feature {
    std::string name;
    ColumnKind kind = ColumnKind::numeric;
    bool scaled = false;  // gives the feature (x - shift) / scale
    double shift = 0, scale = 1;
    double fill = 0;                  // training mean, in place of a missing cell
    std::vector<std::string> levels;  // sorted; a feature each
    bool other = false;               // a feature for every other level
    bool indicator = false;           // a feature that is 1 where the cell is missing
    std::optional<Range> range = {};  // where scaled; not known of events, nor by older model files
    // Why the cells are no input: "constant", "no value", "identifier or free text" or "row labels".
    std::string dropped = "";

    int64_t width() const;  // 0: seen in training and dropped
  };

  /// Every source column that is neither ignored nor the target.
  const std::vector<Feature>& columns() const { return features_; }

 private:
  void fit_columns(const Table& table, const std::vector<int64_t>& rows);
  static Encoder fit_events(const Table& table, const std::vector<int64_t>& rows,
                            const EncoderOptions& options);
  EncoderOptions options_;
  Schema schema_;
  std::vector<Feature> features_;
  std::optional<ColumnKind> target_kind_;  // not known of events, nor by older model files
  std::vector<std::string> notes_;
};

/// Whether so many different ones among the present cells of a categorical column make it an identifier or
/// free text. Such a column is no input, and no mark of a row's group.
bool is_free_text(size_t cells, size_t different);

/// Mean and population sd, free of overflow. {0, 0} for no values; sd 0 when all are equal.
struct Moments {
  double mean = 0, sd = 0;
  double middle = 0, half_range = 0;  // (max + min) / 2, (max - min) / 2
};
Moments moments(const std::vector<double>& values);

/// Names of the features of one source column, in the order of their values.
std::vector<std::string> feature_names(const Encoder::Feature& feature);

}  // namespace slimbayes
