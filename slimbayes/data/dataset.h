#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/data/source.h"
#include "slimbayes/data/task.h"

namespace slimbayes {

/// Describes the rows of a dataset: what is predicted, and what the inputs of one row are.
struct Schema {
  Task task;
  /// Names of the encoded features of one row, or of one step of a window; empty for images.
  std::vector<std::string> features;
  Shape input = {};    // shape of one row of inputs
  int64_t tokens = 0;  // for text: the number of different tokens, padding and unknown included
};

/// Rows ready for a method. A value type: copies share the source, which never changes.
struct Dataset {
  Schema schema;
  std::shared_ptr<const Source> source;  // nullptr: no rows

  int64_t size() const { return source ? source->size() : 0; }  // n
  /// Returns the rows with these indices [b] int64. Throws std::invalid_argument if there is no source.
  Batch rows(const at::Tensor& indices, const RowContext& context = {}) const;
  Batch all() const;                                // all rows in order, without augmentation
  Dataset subset(const at::Tensor& indices) const;  // nothing is copied
};

/// Makes a dataset of tensors in memory. If `schema` has no input shape, it gets the shape of one row of the
/// first input. Throws std::invalid_argument if the tensors have different numbers of rows.
Dataset dataset_of(Schema schema, Batch all);

/// Makes the dataset of a regression from tensors: inputs x [n, ...], numbers y [n] or [n, 1], as they are.
/// Whole numbers (int64) in x are tokens. Throws std::invalid_argument for other shapes.
Dataset regression_data(const at::Tensor& x, const at::Tensor& y);

/// Makes the dataset of a classification into `classes` classes from tensors: inputs x [n, ...] as above,
/// class numbers y [n], from 0. The likelihood is softmax, with one logit per class, or bernoulli, with one
/// logit for two classes. Throws std::invalid_argument for other shapes and likelihoods.
Dataset class_data(const at::Tensor& x, const at::Tensor& y, int64_t classes,
                   LikelihoodKind likelihood = LikelihoodKind::softmax);

/// Returns the rows of `a`, then those of `b`, which have the same schema; nothing is copied. Either may be
/// empty.
Dataset joined(const Dataset& a, const Dataset& b);

}  // namespace slimbayes
