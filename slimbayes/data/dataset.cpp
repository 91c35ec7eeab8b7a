#include "slimbayes/data/dataset.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

int64_t Dataset::size() const {
  if (!all.inputs.empty()) return all.inputs[0].size(0);
  return all.target.defined() ? all.target.size(0) : 0;
}

Batch Dataset::rows(const at::Tensor& indices) const {
  check_shape(indices, {-1}, "Dataset::rows", "indices");
  check(indices.scalar_type() == at::kLong, "Dataset::rows", "indices of type int64",
        at::toString(indices.scalar_type()));
  Batch batch;
  for (const at::Tensor& input : all.inputs) batch.inputs.push_back(input.index_select(0, indices));
  if (all.target.defined()) batch.target = all.target.index_select(0, indices);
  return batch;
}

Dataset Dataset::subset(const at::Tensor& indices) const { return {schema, rows(indices)}; }

}  // namespace slimbayes
