#pragma once

#include <memory>

#include "slimbayes/data/source.h"
#include "slimbayes/encoding/task.h"
#include "slimbayes/export.h"

namespace slimbayes {

/// Encoded rows from which a method trains or predicts. A value type: copies share the source, which never
/// changes.
struct Dataset {
  Schema schema;
  std::shared_ptr<const Source> source;  // nullptr: no rows

  int64_t size() const { return source ? source->size() : 0; }  // number of rows
  /// Where the tensors of its batches are; the CPU unless on_device() (data/device_source.h) says otherwise.
  at::Device device() const { return source ? source->device() : at::Device(at::kCPU); }
  /// Returns the weight of each row (Batch::weight), [n] float64, on the CPU; undefined if every row counts
  /// once.
  at::Tensor weights() const { return source ? source->weights() : at::Tensor(); }
  SLIMBAYES_EXPORT double total_weight() const;  // sum of the weights; without weights the number of rows
  /// Returns the rows with these indices [b] int64. Throws std::invalid_argument if there is no source.
  SLIMBAYES_EXPORT Batch rows(const at::Tensor& indices, const RowContext& context = {}) const;
  SLIMBAYES_EXPORT Batch all() const;  // all rows in order, without augmentation
  SLIMBAYES_EXPORT Dataset subset(const at::Tensor& indices) const;  // these rows; shares the source
};

/// Makes a dataset of tensors in memory. If `schema.input` is empty, it is set to the shape of one row of the
/// first input. Throws std::invalid_argument if the tensors have different numbers of rows.
SLIMBAYES_EXPORT Dataset dataset_of(Schema schema, Batch all);

/// Makes the dataset of a regression from tensors: inputs x [n, ...] and targets y [n] or [n, 1], neither of
/// which is scaled. x of type int64 holds tokens. Throws std::invalid_argument for other shapes.
SLIMBAYES_EXPORT Dataset regression_data(const at::Tensor& x, const at::Tensor& y);

/// Makes the dataset of a classification into `classes` classes from tensors: inputs x [n, ...] as in
/// regression_data, and class numbers y [n], from 0. The likelihood is softmax, with one logit per class, or
/// bernoulli, with a single logit for exactly two classes. Throws std::invalid_argument for fewer than two
/// classes and for other shapes and likelihoods.
SLIMBAYES_EXPORT Dataset class_data(const at::Tensor& x, const at::Tensor& y, int64_t classes,
                                    LikelihoodKind likelihood = LikelihoodKind::softmax);

/// The largest weight of a row. Sums of weights and of their squares over any number of rows are then finite.
inline constexpr double kLargestWeight = 1e100;

/// Returns the dataset with a weight for each row (Batch::weight), in the place of weights that it had:
/// weights [n] of any type. A row of weight 2 counts as two equal rows. Weights that are all 1 leave the
/// dataset without weights. Throws std::invalid_argument unless every weight is > 0 and at most
/// kLargestWeight: leave a row of weight 0 out (subset).
SLIMBAYES_EXPORT Dataset weighted(const Dataset& data, const at::Tensor& weights);

/// Returns a dataset with the rows of `a`, followed by those of `b`; nothing is copied. Both must have the
/// same schema. Either may be empty.
SLIMBAYES_EXPORT Dataset joined(const Dataset& a, const Dataset& b);

}  // namespace slimbayes
