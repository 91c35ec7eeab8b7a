#include "slimbayes/answers/pixels.h"

#include <ATen/ATen.h>

#include "slimbayes/core/check.h"

namespace slimbayes {

at::Tensor pixel_rows(const at::Tensor& x) {
  return x.dim() == 4 ? x.permute({0, 2, 3, 1}).reshape({-1, x.size(1)}) : x;
}

Labelled labelled(const at::Tensor& output, const at::Tensor& target) {
  if (target.dim() == 1) return {output, target};
  const at::Tensor rows = pixel_rows(output), y = target.flatten();
  check_shape(y, {rows.size(0)}, "labelled", "target");
  const at::Tensor known = (y != kVoid).nonzero().squeeze(1);
  if (known.size(0) == y.size(0)) return {rows, y};
  return {rows.index_select(0, known), y.index_select(0, known)};
}

at::Tensor mean_loss(const at::Tensor& losses) { return losses.numel() > 0 ? losses.mean() : losses.sum(); }

}  // namespace slimbayes
