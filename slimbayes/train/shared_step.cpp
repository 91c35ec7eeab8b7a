#include "slimbayes/train/shared_step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

namespace {

/// The numbers of several tensors in one buffer, with room for `more` further ones behind them.
class Packed {
 public:
  Packed(std::vector<at::Tensor> tensors, int64_t more) : tensors_(std::move(tensors)) {
    int64_t size = more;
    for (const at::Tensor& x : tensors_) size += x.numel();
    flat_ = at::empty({size}, tensors_.at(0).options());
    int64_t begin = 0;
    for (const at::Tensor& x : tensors_) {
      internal_check(x.scalar_type() == flat_.scalar_type(), "shared_step", "parameters of several types");
      places_.push_back(flat_.narrow(0, begin, x.numel()).view(x.sizes()));
      begin += x.numel();
    }
    rest_ = flat_.narrow(0, begin, more);
  }

  const at::Tensor& flat() const { return flat_; }
  const at::Tensor& rest() const { return rest_; }
  void scaled_in(double factor) const {
    for (size_t i = 0; i < tensors_.size(); ++i) places_[i].copy_(tensors_[i]).mul_(factor);
  }
  void out() const {
    for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(places_[i]);
  }

 private:
  std::vector<at::Tensor> tensors_, places_;
  at::Tensor flat_, rest_;
};

std::vector<at::Tensor> shared_tensors(const TrainProblem& problem) {
  std::vector<at::Tensor> all;
  for (const ParameterGroup& group : problem.groups) all.push_back(group.grad);
  for (const at::Tensor& buffer : problem.batch_buffers) all.push_back(buffer);
  return all;
}

}  // namespace

GradientStep shared_step(const TrainProblem& problem, std::function<int64_t()> asked,
                         std::function<void(int64_t)> told) {
  const Packed packed(shared_tensors(problem), 2);
  return [packed, &ranks = *problem.ranks, step = problem.step, asked = std::move(asked),
          told = std::move(told)](const Batch& batch, const StepContext& at) {
    double loss = 0;
    try {
      loss = step(batch, at);
    } catch (const NumericalError&) {
      loss = std::numeric_limits<double>::quiet_NaN();
    }
    const at::NoGradGuard no_grad;
    packed.scaled_in(at.share);
    packed.rest()[0] = at.share * loss;
    packed.rest()[1] = asked();
    ranks.sum(packed.flat());
    packed.out();
    told(static_cast<int64_t>(packed.rest()[1].item<double>()));
    return packed.rest()[0].item<double>();
  };
}

}  // namespace slimbayes
