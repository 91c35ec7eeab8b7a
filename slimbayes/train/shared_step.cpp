#include "slimbayes/train/shared_step.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

namespace {

constexpr int64_t kInterrupts = 1000;  // more than the other numbers of a sum of AgreedEnd

Stopped meaning(int64_t sum) {
  return sum >= kInterrupts ? Stopped::interrupted : sum > 0 ? Stopped::time : Stopped::budget;
}

std::vector<at::Tensor> shared_tensors(const TrainProblem& problem) {
  std::vector<at::Tensor> all;
  for (const ParameterGroup& group : problem.groups) all.push_back(group.grad);
  for (const at::Tensor& buffer : problem.batch_buffers) all.push_back(buffer);
  return all;
}

struct RankTotal : torch::autograd::Function<RankTotal> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, int64_t ranks,
                            double share) {
    context->saved_data["ranks"] = ranks;
    context->saved_data["share"] = share;
    const at::Tensor all = x.contiguous().clone();
    collective(ranks).sum(all);
    return all;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const double share = context->saved_data["share"].toDouble();
    const at::Tensor all = (gradients.at(0) * share).contiguous();
    collective(context->saved_data["ranks"].toInt()).sum(all);
    return {all / share, at::Tensor(), at::Tensor()};
  }

  /// A collective outlives every step; autograd stores numbers, not pointers.
  static const Collective& collective(int64_t address) {
    return *reinterpret_cast<const Collective*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
};

std::function<at::Tensor(const at::Tensor&)> total_of(const Collective& ranks, double share) {
  return [&ranks, share](const at::Tensor& x) { return total_over_ranks(x, ranks, share); };
}

}  // namespace

int64_t AgreedEnd::message() const {
  const Stopped own = asked_();
  if (own == Stopped::interrupted) return kInterrupts;
  return own == Stopped::time && ranks_->rank() == 0 ? 1 : 0;
}

void AgreedEnd::tell(int64_t sum) { told_ = meaning(sum); }

Stopped AgreedEnd::operator()() const {
  if (ranks_ == nullptr) return asked_();
  if (in_steps_ && told_) return *told_;
  const at::Tensor sum = at::full({1}, message(), at::kLong);
  ranks_->sum(sum);
  return meaning(sum.item<int64_t>());
}

at::Tensor total_over_ranks(const at::Tensor& x, const Collective& ranks, double share) {
  return RankTotal::apply(x, reinterpret_cast<int64_t>(&ranks), share);
}

RankSum::RankSum(const Collective& ranks, std::vector<at::Tensor> tensors)
    : ranks_(ranks), tensors_(std::move(tensors)) {
  int64_t size = 2;
  for (const at::Tensor& x : tensors_) size += x.numel();
  flat_ = at::empty({size}, tensors_.at(0).options());
  int64_t begin = 0;
  for (const at::Tensor& x : tensors_) {
    internal_check(x.scalar_type() == flat_.scalar_type(), "RankSum", "tensors of several types");
    places_.push_back(flat_.narrow(0, begin, x.numel()).view(x.sizes()));
    begin += x.numel();
  }
  rest_ = flat_.narrow(0, begin, 2);
}

int64_t RankSum::operator()(double weight, double& loss, int64_t own) const {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < tensors_.size(); ++i) places_[i].copy_(tensors_[i]).mul_(weight);
  rest_[0] = weight * loss;
  rest_[1] = own;
  ranks_.sum(flat_);
  for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(places_[i]);
  loss = rest_[0].item<double>();
  return static_cast<int64_t>(rest_[1].item<double>());
}

Batch batch_of_share(const TrainProblem& problem, const at::Tensor& rows, const Stream& augmentation,
                     StepContext& context) {
  const Collective& ranks = *problem.ranks;
  const auto of_rank = [&](const Stream& stream) {
    return ranks.rank() == 0 ? stream : stream.split("rank").split(static_cast<uint64_t>(ranks.rank()));
  };
  context.stream = of_rank(context.stream);
  const int64_t b = rows.size(0);
  if (const auto disk = problem.source->on_disk(); disk && disk->parts.size() > 2) {
    const at::Tensor own = rows.masked_select((rows >= disk->first()).logical_and_(rows < disk->end()));
    context.share = static_cast<double>(own.size(0)) / static_cast<double>(b);
    context.total = total_of(ranks, context.share);
    return problem.source->rows(own, {true, of_rank(augmentation)});
  }
  // No rank may be without a row, and the variance of a batch norm needs two.
  const bool whole = b < (problem.batch_buffers.empty() ? 1 : 2) * ranks.size();
  const auto [first, end] = whole ? std::pair<int64_t, int64_t>(0, b) : share_of(ranks, b);
  context.share = whole ? 1 / static_cast<double>(ranks.size())
                        : static_cast<double>(end - first) / static_cast<double>(b);
  if (!whole) context.total = total_of(ranks, context.share);
  return problem.source->rows(rows.narrow(0, first, end - first), {true, of_rank(augmentation)});
}

GradientStep shared_step(const TrainProblem& problem, std::function<int64_t()> asked,
                         std::function<void(int64_t)> told) {
  const RankSum sum(*problem.ranks, shared_tensors(problem));
  return [sum, step = problem.step, asked = std::move(asked), told = std::move(told)](const Batch& batch,
                                                                                      const StepContext& at) {
    double loss = 0;
    try {
      loss = step(batch, at).value();
    } catch (const NumericalError&) {
      loss = std::numeric_limits<double>::quiet_NaN();
    }
    told(sum(at.share, loss, asked()));
    return loss;
  };
}

}  // namespace slimbayes
