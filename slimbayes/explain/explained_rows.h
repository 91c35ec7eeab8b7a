#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/explain/input_columns.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// Fewer rows than these are not explained: a permutation of them says nothing.
inline constexpr int64_t kFewestExplained = 10;

/// The n examples on which a model is explained, each with an answer.
struct ExplainedRows {
  const Model& model;
  Examples examples;  // rows of a table or windows
  Answers answers;    // to all of them, with the interval of one level; `bad` is empty
  at::Tensor y;       // [n] targets in the user's units, or class numbers; undefined without targets

  int64_t size() const;
  std::optional<Interval> interval() const { return answers.levels.front().interval; }
};

/// What explained_rows() takes of the examples.
struct ExplainOptions {
  int64_t rows = 2000;  // examples, evenly spaced
  double level = 0.95;  // of the intervals
  PredictOptions predict = {};
};

/// Returns at most ExplainOptions::rows of the examples, evenly spaced, without those that have no finite
/// answer; `left_out` (may be nullptr) receives a sentence on them. They have targets if the table has the
/// model's target. Throws std::invalid_argument for a model of images, texts or events, for fewer than
/// kFewestExplained examples with an answer, and as Model::answers().
ExplainedRows explained_rows(const Model& model, const Examples& examples, const ExplainOptions& options = {},
                             std::string* left_out = nullptr);

/// Returns the table with the cells of each example that the input columns of the model are in: the table
/// itself, or that of the windows. Throws std::invalid_argument for other examples.
const Table& cells_of(const Examples& examples);

/// Returns the input columns of the model in these rows.
std::vector<InputColumn> input_columns(const ExplainedRows& rows);

/// Returns the input column of this name. Throws std::invalid_argument for a column that the model does not
/// use; the message names those that it uses.
InputColumn input_column(const ExplainedRows& rows, const std::string& name);

}  // namespace slimbayes
