// Sums over ranks within a pass, with their gradients (train/rank_total.h).
#include "slimbayes/train/rank_total.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/train/thread_ranks.h"

namespace slimbayes {
namespace {

// The mean over a batch of rows scaled by a statistic of all rows, of which two ranks have 3 and 7.
TEST(RankTotal, HasTheGradientOfTheWholeBatch) {
  const at::Tensor rows = at::arange(1, 11, at::kDouble), start = at::tensor({0.7}, at::kDouble);
  const auto loss = [](const at::Tensor& x, const at::Tensor& w, const auto& total) {
    const at::Tensor y = (w * x).sin();
    return (y * total(y.square().sum().reshape({1}))).mean();
  };
  const at::Tensor w = start.clone().requires_grad_();
  const at::Tensor whole = loss(rows, w, [](const at::Tensor& x) { return x; });
  whole.backward();
  const auto thrown = run_ranks(2, [&](const Collective& ranks) {
    const at::Tensor x = ranks.rank() == 0 ? rows.narrow(0, 0, 3) : rows.narrow(0, 3, 7);
    const double share = static_cast<double>(x.size(0)) / 10;
    const at::Tensor own = start.clone().requires_grad_();
    const at::Tensor mean =
        loss(x, own, [&](const at::Tensor& sum) { return total_over_ranks(sum, ranks, share); });
    mean.backward();
    const at::Tensor both = at::cat({own.grad(), mean.detach().reshape({1})}) * share;
    ranks.sum(both);
    EXPECT_NEAR(both[0].item<double>(), w.grad().item<double>(), 1e-12);
    EXPECT_NEAR(both[1].item<double>(), whole.item<double>(), 1e-12);
  });
  EXPECT_EQ(thrown, (std::vector<std::string>{"", ""}));
}

}  // namespace
}  // namespace slimbayes
