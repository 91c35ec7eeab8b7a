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
  return summed(std::vector{own}, ranks).front();
}

std::vector<LinearStatistics> summed(std::vector<LinearStatistics> own, const Collective* ranks) {
  if (ranks == nullptr) return own;
  std::vector<at::Tensor> sums;
  for (LinearStatistics& s : own) {
    s.S = s.S.clone();
    s.c = s.c.clone();
    s.ones_phi = s.ones_phi.clone();
    sums.insert(sums.end(), {s.S, s.c, s.ones_phi,
                             at::tensor({s.yy, s.ones_y, s.ones_ones, s.log_det_d, s.n}, at::kDouble)});
  }
  sum_over_ranks(sums, ranks);
  for (size_t i = 0; i < own.size(); ++i) {
    LinearStatistics& s = own[i];
    const auto* const of = sums[4 * i + 3].const_data_ptr<double>();
    s.yy = of[0];
    s.ones_y = of[1];
    s.ones_ones = of[2];
    s.log_det_d = of[3];
    s.n = of[4];
  }
  return own;
}

at::Tensor rows_of_all(const at::Tensor& own, const Collective* ranks) {
  if (ranks == nullptr) return own;
  const at::NoGradGuard no_grad;
  const at::Tensor counts = ranks->gather(at::full({1}, own.size(0), at::kLong));
  std::vector<int64_t> shape = own.sizes().vec();
  shape[0] = counts.max().item<int64_t>();
  const at::Tensor padded = at::zeros(shape, own.options());
  padded.narrow(0, 0, own.size(0)).copy_(own);
  const at::Tensor all = ranks->gather(padded);
  std::vector<at::Tensor> parts;
  for (int64_t r = 0; r < ranks->size(); ++r) parts.push_back(all[r].narrow(0, 0, counts[r].item<int64_t>()));
  return at::cat(parts);
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
