#include "slimbayes/train/problem.h"

#include <ATen/ATen.h>

#include <utility>

namespace slimbayes {

StepLoss::StepLoss(const at::Tensor& loss) {
  if (loss.device().is_cpu())
    value_ = loss.item<double>();
  else
    pending_ = loss.detach();
}

double StepLoss::value() const { return pending_.defined() ? pending_.item<double>() : value_; }

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

}  // namespace slimbayes
