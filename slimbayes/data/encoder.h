#pragma once

#include <ATen/core/Tensor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/data/dataset.h"
#include "slimbayes/data/table.h"

namespace slimbayes {

struct EncoderOptions {
  std::string target;                      // name of the target column
  std::string scale = "min-max";           // numeric inputs: "min-max" to [-1, 1], or "standard"
  std::vector<std::string> ignore = {};    // columns that are no inputs
};

/// From a table's columns to numbers, fitted on training rows only and saved with the model. A numeric, boolean or
/// date-time column gives one feature (scaled), a categorical one a feature a level (one-hot; a level not seen in
/// training gives zeros); a column with missing training cells gives an indicator beside the imputed mean. A column that
/// is constant on the training rows gives no feature.
class Encoder {
 public:
  /// Throws std::invalid_argument / DataError: target absent or not numeric, NaN or infinite targets, no usable input.
  static Encoder fit(const Table& table, const std::vector<int64_t>& rows, const EncoderOptions& options);

  /// Inputs only, finite, float64. [n, d]. Columns are found by name: another order and added columns are fine; a
  /// missing column or another kind throws std::invalid_argument.
  at::Tensor inputs(const Table& table) const;

  /// Standardised target, float64. [n]. Throws when the column is absent or holds a missing cell (with its line).
  at::Tensor target(const Table& table) const;

  /// inputs and, if `with_target`, target.
  Dataset dataset(const Table& table, bool with_target) const;

  const Schema& schema() const { return schema_; }
  const std::string& target_name() const { return options_.target; }
  /// Sentences about what was dropped, imputed or unseen, for the log.
  const std::vector<std::string>& notes() const { return notes_; }

  nlohmann::json to_json() const;
  static Encoder from_json(const nlohmann::json& json);  // throws std::invalid_argument

 private:
  struct Feature;  // one source column
  EncoderOptions options_;
  Schema schema_;
  std::vector<Feature> features_;
  std::vector<std::string> notes_;
};

}  // namespace slimbayes
