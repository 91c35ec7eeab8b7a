#include "slimbayes/model/example_uniforms.h"

#include <ATen/ATen.h>

#include "slimbayes/answers/prediction_set.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

at::Tensor example_uniforms(const Dataset& data) {
  std::vector<at::Tensor> parts = {at::empty({0}, at::kDouble)};
  if (data.size() == 0) return parts[0];
  over_batches(data, {}, [&](const Batch& batch) {
    const at::Tensor& x = batch.inputs.at(0);
    if (!batch.mask.defined()) {
      parts.push_back(row_uniforms(x));
      return;
    }
    for (int64_t i = 0; i < x.size(0); ++i)
      parts.push_back(row_uniforms(x[i].masked_select(batch.mask[i]).unsqueeze(0)));
  });
  return at::cat(parts);
}

}  // namespace slimbayes
