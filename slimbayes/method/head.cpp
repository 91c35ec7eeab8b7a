#include "slimbayes/method/head.h"

#include <ATen/ATen.h>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/pixels.h"

namespace slimbayes {

at::Tensor Head::loss(const at::Tensor& output, const at::Tensor& y, double smoothing) const {
  if (is_regression()) return (output.squeeze(-1) - y).square();
  if (likelihood == LikelihoodKind::poisson) {
    const at::Tensor log_rate = output.squeeze(-1);
    return log_rate.exp() - y * log_rate + at::lgamma(y + 1);
  }
  if (outputs == 1) {
    const at::Tensor label = smoothing > 0 ? (1 - smoothing) * y + smoothing / 2 : y;
    return at::binary_cross_entropy_with_logits(output.squeeze(-1), label, {}, {}, at::Reduction::None);
  }
  const at::Tensor log_p = at::log_softmax(output, -1);
  const at::Tensor own = at::nll_loss(log_p, y.to(at::kLong), {}, at::Reduction::None);
  return smoothing > 0 ? (1 - smoothing) * own - smoothing * log_p.mean(-1) : own;
}

Predictive Head::answer(const at::Tensor& of_network) const {
  if (is_classes()) return classes_of_logits(pixel_rows(of_network));
  const at::Tensor mean = of_network.squeeze(-1);
  if (likelihood == LikelihoodKind::poisson) return Counts{{mean, at::zeros_like(mean)}};
  return Regression{mean, at::full_like(mean, noise_var), at::zeros_like(mean)};
}

Head head_of(const Task& task) { return {head_spec_of(task)}; }

Head head_from_json(const nlohmann::json& json) { return {head_spec_from_json(json)}; }

}  // namespace slimbayes
