#include "slimbayes/train/rank_total.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>

namespace slimbayes {

namespace {

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

}  // namespace

at::Tensor total_over_ranks(const at::Tensor& x, const Collective& ranks, double share) {
  return RankTotal::apply(x, reinterpret_cast<int64_t>(&ranks), share);
}

}  // namespace slimbayes
