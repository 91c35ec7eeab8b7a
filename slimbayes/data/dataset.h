#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/shape.h"
#include "slimbayes/data/source.h"
#include "slimbayes/data/task.h"

namespace slimbayes {

/// What rows are.
struct Schema {
  Task task;
  std::vector<std::string> features;  // names of the encoded inputs of a row, or of a step of a window
  Shape input = {};                   // of one row
  int64_t tokens = 0;                 // of text: how many different tokens there are
};

/// Rows ready for a method. A value; the source is shared and never changes.
struct Dataset {
  Schema schema;
  std::shared_ptr<const Source> source;  // nullptr: no rows

  int64_t size() const { return source ? source->size() : 0; }  // n
  Batch rows(const at::Tensor& indices, const RowContext& context = {}) const;  // indices [b] int64
  Batch all() const;                                                            // as predictions see them, in order
  Dataset subset(const at::Tensor& indices) const;                              // nothing is copied
};

/// Makes a dataset of tensors in memory. If `schema` has no input shape, it gets the shape of one row of the
/// first input. Throws std::invalid_argument if the tensors have different numbers of rows.
Dataset dataset_of(Schema schema, Batch all);

}  // namespace slimbayes
