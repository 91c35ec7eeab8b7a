#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slimbayes/explain/input_columns.h"
#include "slimbayes/model/model.h"

namespace slimbayes {

/// The n examples that a report is on, each with an answer and a target.
struct ScoredExamples {
  const Model& model;
  Examples examples;
  Answers answers;  // to all of them, with the intervals or sets of one level; `bad` is empty
  at::Tensor y;     // [n] targets in the user's units, or class numbers
  /// One row for each example: the row itself, or the last row that a window sees. nullptr for images.
  std::shared_ptr<const Table> cells;
  std::vector<int64_t> numbers;  // [n] the number of each example's row in its file, or of the image, from 1

  at::Tensor weight = {};  // [n] weights of the examples, > 0 (scored_weights); undefined without weights

  int64_t size() const { return y.size(0); }
  /// The number of examples by which chance is judged: with weights the effective one
  /// (Evaluation::effective_rows), rounded.
  int64_t judged_size() const;
  double level() const { return answers.levels.front().level; }
  const Predictive& answer() const { return answers.answer; }
  std::string_view noun() const { return noun_of(kind_of(model.encoder())); }
};

/// Returns the examples that have an answer in `answers`, with their targets. `places` are the indices of the
/// examples in the file, for images. Examples of weight 0 must have been left out (scored_examples). Throws
/// as Model::evaluate().
ScoredExamples scored_examples(const Model& model, Examples examples, Answers answers,
                               const std::vector<int64_t>& places);

/// The location and the scale of the answer to each example. [n] float64
struct MeanAndSd {
  at::Tensor mean, sd;  // in the target's units; sd of the whole predictive
};

/// Returns mean and sd of the answers to numbers or counts. Throws std::invalid_argument for other answers.
MeanAndSd mean_and_sd(const Predictive& p);

/// Returns the mean of x [n] over the examples, by their weights; with `rows` only over those.
double mean_of(const ScoredExamples& s, const at::Tensor& x);
double mean_of(const ScoredExamples& s, const at::Tensor& x, const at::Tensor& rows);

/// Returns judged_size() for the examples with the indices `rows` alone.
int64_t judged_rows(const ScoredExamples& s, const at::Tensor& rows);

/// Returns whether the answers are class probabilities.
bool are_classes(const Predictive& p);

/// Returns, for each example, whether the target lies inside its interval. [n] bool; numbers and counts.
at::Tensor inside_interval(const ScoredExamples& s);

/// Returns the input columns of a table or of windows, in the encoder's order; their cells [n] are those of
/// ScoredExamples::cells. Empty for images and text.
std::vector<InputColumn> input_columns(const ScoredExamples& s);

/// Returns the numbers of a tensor of float64, int64 or bool as a list.
std::vector<double> list_of(const at::Tensor& x);

}  // namespace slimbayes
