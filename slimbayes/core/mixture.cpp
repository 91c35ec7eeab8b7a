#include "slimbayes/core/mixture.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

Regression mixture(const std::vector<Regression>& parts) {
  check(!parts.empty(), "mixture", "at least one part", "none");
  std::vector<at::Tensor> mean, aleatoric_var, epistemic_var;
  int64_t zeroed = 0;
  for (const Regression& part : parts) {
    for (const at::Tensor& x : {part.mean, part.aleatoric_var, part.epistemic_var}) {
      check_shape(x, parts.front().mean.sizes(), "mixture", "a part");
    }
    mean.push_back(part.mean);
    aleatoric_var.push_back(part.aleatoric_var);
    epistemic_var.push_back(part.epistemic_var);
    zeroed += part.zeroed;
  }
  // Deviations before squares: the variance of nearly equal means is no difference of large numbers.
  const at::Tensor means = at::stack(mean);  // [k, n]
  const at::Tensor centre = means.mean(0);
  return {centre, at::stack(aleatoric_var).mean(0),
          at::stack(epistemic_var).mean(0) + (means - centre).square().mean(0), zeroed};
}

}  // namespace slimbayes
