#include "slimbayes/objectives/variational_loss.h"

#include <ATen/ATen.h>

namespace slimbayes {

at::Tensor trace_regulariser(const at::Tensor& features, const at::Tensor& noise_var) {
  at::Tensor prior_var = features.square().sum(-1);  // ||phi||^2 [b]
  return (prior_var.max() - prior_var.mean()) / (2 * noise_var);
}

}  // namespace slimbayes
