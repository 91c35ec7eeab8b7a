#include "slimbayes/answers/joint/normal_scores.h"

#include <ATen/ATen.h>

namespace slimbayes {

BoundedScores bounded_scores(const at::Tensor& z) {
  const at::Tensor scores = z.to(at::kDouble);
  return {scores.clamp(-kFarthestNormalScore, kFarthestNormalScore),
          (scores.abs() > kFarthestNormalScore).sum().item<int64_t>()};
}

}  // namespace slimbayes
