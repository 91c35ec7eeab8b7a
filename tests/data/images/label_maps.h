#pragma once

#include <ATen/ATen.h>

#include "slimbayes/core/random.h"
#include "slimbayes/data/images/images.h"

namespace slimbayes {

/// Returns images of 8 x 12 pixels with a light sky above a dark ground; the horizon's height is random. The
/// label of a pixel is 0 (sky) or 1 (ground), and 2 (void) in the last column.
inline Images horizons(int64_t n, uint64_t seed = 1) {
  constexpr int64_t kHigh = 8, kWide = 12;
  const Stream stream(seed);
  const at::Tensor sky = 2 + (5 * stream.split("horizon").uniform({n, 1, 1})).floor();
  at::Tensor labels = (at::arange(kHigh, at::kDouble).view({1, kHigh, 1}) >= sky).expand({n, kHigh, kWide});
  const at::Tensor light =
      150 - 80 * labels.to(at::kDouble) + 60 * stream.split("noise").uniform({n, kHigh, kWide});
  labels = labels.to(at::kByte).contiguous();
  labels.select(2, kWide - 1).fill_(2);
  return {"horizons", light.to(at::kByte).unsqueeze(1), labels, {"sky", "ground"}};
}

}  // namespace slimbayes
