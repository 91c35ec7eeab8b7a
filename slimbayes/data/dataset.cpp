#include "slimbayes/data/dataset.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

Batch Dataset::rows(const at::Tensor& indices, const RowContext& context) const {
  check(source != nullptr, "Dataset::rows", "a dataset with rows", "an empty one");
  return source->rows(indices, context);
}

Batch Dataset::all() const {
  if (const auto* in_memory = dynamic_cast<const TensorSource*>(source.get())) return in_memory->all();
  return source ? source->rows(at::arange(size()), {}) : Batch{};
}

Dataset Dataset::subset(const at::Tensor& indices) const {
  return {schema, std::make_shared<SubsetSource>(source, indices)};
}

Dataset dataset_of(Schema schema, Batch all) {
  auto source = std::make_shared<TensorSource>(std::move(all));
  if (schema.input.sizes.empty()) schema.input.sizes = source->all().inputs[0].sizes().slice(1).vec();
  return {std::move(schema), std::move(source)};
}

Dataset joined(const Dataset& a, const Dataset& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  return {a.schema, std::make_shared<JoinedSource>(a.source, b.source)};
}

}  // namespace slimbayes
