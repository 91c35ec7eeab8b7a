#include "slimbayes/train/problem.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/core/device.h"

namespace slimbayes {

StepLoss::StepLoss(const at::Tensor& loss) {
  if (loss.device().is_cpu())
    value_ = loss.item<double>();
  else
    pending_ = loss.detach();
}

double StepLoss::value() const { return pending_.defined() ? pending_.item<double>() : value_; }

at::Tensor& LossSum::on_device_of(const at::Tensor& x) {
  if (!pending_.defined()) pending_ = at::full({}, sum_, doubles_like(x));
  return pending_;
}

void LossSum::add(const StepLoss& loss) {
  const at::NoGradGuard no_grad;
  if (const at::Tensor& x = loss.pending(); x.defined())
    on_device_of(x).add_(x.reshape({}));
  else if (pending_.defined())
    pending_.add_(loss.value());
  else
    sum_ += loss.value();
}

void LossSum::watch(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  on_device_of(x).add_(x.reshape({}).mul(0));  // 0, or NaN
}

double LossSum::value() {
  if (pending_.defined()) sum_ = std::exchange(pending_, at::Tensor()).item<double>();
  return sum_;
}

EpochBatches::EpochBatches(std::vector<at::Tensor> all)
    : size_(std::ssize(all)),
      make_([all = std::move(all)](int64_t i) { return all.at(static_cast<size_t>(i)); }) {}

EpochBatches::EpochBatches(int64_t size, std::function<at::Tensor(int64_t i)> make)
    : size_(size), make_(std::move(make)) {}

std::vector<at::Tensor> changing_tensors(const TrainProblem& problem) {
  std::vector<at::Tensor> all;
  for (const ParameterGroup& group : problem.groups) all.push_back(group.value);
  all.insert(all.end(), problem.buffers.begin(), problem.buffers.end());
  return all;
}

at::Device device_of(const TrainProblem& problem) {
  const std::vector<ParameterGroup>& groups = problem.groups;
  if (groups.empty()) return at::kCPU;
  const at::Device device = groups[0].value.device();
  internal_check(std::ranges::all_of(groups,
                                     [&](const ParameterGroup& group) {
                                       return group.value.device() == device && group.grad.device() == device;
                                     }),
                 "train", "groups on several devices");
  return device;
}

}  // namespace slimbayes
