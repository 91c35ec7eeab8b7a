#include "slimbayes/method/loss_gradient.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "slimbayes/method/head.h"

namespace slimbayes {

StepLoss share_of_sum(const at::Tensor& sum, double share) {
  if (sum.device().is_cpu()) return sum.item<double>() * share;
  return sum.to(at::kDouble) * share;
}

LossGradient loss_gradient(const HeadSpec& head, const at::Tensor& output, const at::Tensor& y) {
  const at::NoGradGuard no_grad;
  const double share = 1 / static_cast<double>(output.size(0));
  const at::Tensor f = output.detach();
  const auto mean_loss = [&] { return StepLoss(Head{head}.loss(f, y, 0).mean()); };
  if (head.is_regression()) {
    at::Tensor error = f.squeeze(-1) - y;
    const StepLoss loss = share_of_sum(at::dot(error, error), share);
    return {loss, error.mul_(2 * share).unsqueeze_(-1)};
  }
  if (head.likelihood == LikelihoodKind::poisson)
    return {mean_loss(), f.exp().sub_(y.unsqueeze(-1)).mul_(share)};
  if (head.outputs == 1) return {mean_loss(), f.sigmoid().sub_(y.unsqueeze(-1)).mul_(share)};
  at::Tensor p = at::softmax(f, -1);
  if (!p.device().is_cpu()) {  // a device adds scattered numbers in any order, or slowly
    const at::Tensor classes = at::arange(p.size(1), y.options().dtype(at::kLong));
    return {mean_loss(), p.sub_(y.to(at::kLong).unsqueeze(-1).eq(classes).to(p.scalar_type())).mul_(share)};
  }
  p.scatter_add_(1, y.to(at::kLong).unsqueeze(-1),
                 at::full({1, 1}, -1.0, p.options()).expand({f.size(0), 1}));
  return {mean_loss(), p.mul_(share)};
}

}  // namespace slimbayes
