#include "slimbayes/method/rank_rows.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "slimbayes/method/batches.h"

namespace slimbayes {

RankRows rows_of_rank(const Dataset& all, const Collective* ranks) {
  if (ranks == nullptr) return {all};
  if (const auto disk = all.source->on_disk(); disk && disk->parts.size() > 2)
    return {rows_at_hand(all), disk->first(), ranks};
  if (all.size() < ranks->size()) return {all};
  const auto [first, end] = share_of(*ranks, all.size());
  return {all.subset(at::arange(first, end)), first, ranks};
}

LinearStatistics summed(const LinearStatistics& own, const Collective* ranks) {
  if (ranks == nullptr) return own;
  LinearStatistics all = own;
  const at::Tensor scalars =
      at::tensor({own.yy, own.ones_y, own.ones_ones, own.log_det_d, static_cast<double>(own.n)}, at::kDouble);
  all.S = own.S.clone();
  all.c = own.c.clone();
  all.ones_phi = own.ones_phi.clone();
  sum_over_ranks({all.S, all.c, all.ones_phi, scalars}, ranks);
  const auto* const of = scalars.const_data_ptr<double>();
  all.yy = of[0];
  all.ones_y = of[1];
  all.ones_ones = of[2];
  all.log_det_d = of[3];
  all.n = static_cast<int64_t>(of[4]);
  return all;
}

at::Tensor largest_of_ranks(const at::Tensor& x, const Collective* ranks) {
  return ranks == nullptr ? x : ranks->gather(x).amax(0);
}

void sum_over_ranks(const std::vector<at::Tensor>& tensors, const Collective* ranks) {
  if (ranks == nullptr) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& x : tensors) flat.push_back(x.reshape({-1}));
  const at::Tensor all = at::cat(flat);
  ranks->sum(all);
  int64_t begin = 0;
  for (const at::Tensor& x : tensors) {
    x.copy_(all.narrow(0, begin, x.numel()).view(x.sizes()));
    begin += x.numel();
  }
}

}  // namespace slimbayes
