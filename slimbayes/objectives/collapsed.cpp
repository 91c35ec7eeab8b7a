#include "slimbayes/objectives/collapsed.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"
#include "slimbayes/objectives/mml.h"

namespace slimbayes {

at::Tensor collapsed_bound(const at::Tensor& features, const at::Tensor& correction, const at::Tensor& y,
                           const at::Tensor& offset, const at::Tensor& noise_var) {
  check_shape(correction, {features.size(0)}, "collapsed_bound", "correction");
  return mml(features, y, offset, noise_var) -
         correction.to(at::kDouble).sum() / (2 * noise_var.to(at::kDouble));
}

}  // namespace slimbayes
