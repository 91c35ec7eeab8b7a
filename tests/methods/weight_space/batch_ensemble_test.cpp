// batch-ensemble against the networks of its members, written out.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "slimbayes/core/stored.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"

namespace slimbayes {
namespace {

using contract::toy;

constexpr int64_t kMembers = 3;

/// Returns rows of the toy function with `shift` added to the inputs.
Dataset shifted_toy(int64_t n, uint64_t seed, double shift) {
  return contract::changed(toy(n, seed), [&](Batch& b) { b.inputs[0] = b.inputs[0] + shift; });
}

std::unique_ptr<Fitted> trained(const nlohmann::json& more = nlohmann::json::object(), double shift = 0) {
  nlohmann::json options = {{"network", "mlp"}, {"hidden", 6}, {"blocks", 1},
                            {"steps", 120},     {"batch", 10}, {"batch_members", kMembers}};
  options.update(more);
  return registry_row("batch-ensemble")
      .make(options)
      ->fit({shifted_toy(80, 1, shift), shifted_toy(30, 2, shift)}, {});
}

TEST(BatchEnsemble, AveragesItsMembers) {
  const auto model = trained();
  const at::NoGradGuard no_grad;
  const TensorFile file = model->save();
  const Weights w = network_file(file).weights;
  const Dataset rows = toy(9, 3);
  const at::Tensor x = rows.all().inputs[0].to(at::kFloat);
  const auto layer = [&](const std::string& name, const at::Tensor& in, int64_t k) {
    const auto of = [&](const char* part) { return w.at(name + part); };
    const at::Tensor matrix =
        of(".weight") * of(".weight.members.s")[k].unsqueeze(1) * of(".weight.members.r")[k];
    return at::linear(in, matrix, of(".bias.members")[k]);
  };
  std::vector<at::Tensor> means;
  for (int64_t k = 0; k < kMembers; ++k)
    means.push_back(layer("network.2", at::silu(layer("network.0", x, k)), k).squeeze(1).to(at::kDouble));
  const at::Tensor all = at::stack(means);
  const auto p = std::get<Regression>(model->predict(rows));
  EXPECT_TRUE(at::allclose(p.mean, all.mean(0), 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(p.epistemic_var, all.var(0, /*unbiased=*/false), 1e-4, 1e-7));
  EXPECT_GT(p.epistemic_var.min().item<double>(), 0);
}

TEST(BatchEnsemble, SharesAllButTheScalesAndTheBiases) {
  const Weights w = network_file(trained()->save()).weights;
  const int64_t d = w.at("network.0.weight").size(1);
  int64_t numbers = 0;
  for (const auto& [name, tensor] : w)
    if (name.starts_with("network.")) numbers += tensor.numel();
  EXPECT_EQ(numbers, 6 * d + 6 + kMembers * ((6 + d) + (1 + 6) + 6 + 1));
}

TEST(BatchEnsemble, ABatchSmallerThanTheMembersTrainsThemInTurn) {
  for (const bool norm : {false, true}) {
    const auto model = trained({{"batch", 2}, {"steps", 40}, {"batch_norm", norm}});
    EXPECT_TRUE(std::get<Regression>(model->predict(toy(5, 3))).mean.isfinite().all().item<bool>());
    const at::Tensor s = network_file(model->save()).weights.at("network.0.weight.members.s");
    const at::Tensor moved = (s.abs() - 1).abs().amax(1) > 1e-6;
    EXPECT_TRUE(moved.all().item<bool>()) << moved;
  }
}

TEST(BatchEnsemble, PartsOfUnequalSizesWorkWithABatchNorm) {
  const auto model =
      trained({{"batch", 7}, {"steps", 60}, {"batch_norm", true}});  // parts of 3, 2 and 2 rows
  EXPECT_TRUE(std::get<Regression>(model->predict(toy(5, 3))).mean.isfinite().all().item<bool>());
}

TEST(BatchEnsemble, AMembersBatchNormsAreThoseOfItsOwnActivations) {
  // A member normalises by averages over its own parts. So its first layer's outputs over the training rows
  // have about the mean and the variance that its batch norm holds. Inputs far from 0, times the members'
  // signs, give each member another mean: one average could not fit them all.
  constexpr double kShift = 3;
  const auto model = trained({{"batch_norm", true}, {"steps", 400}, {"batch", 40}}, kShift);
  const at::NoGradGuard no_grad;
  const Weights w = network_file(model->save()).weights;
  const at::Tensor x = shifted_toy(80, 1, kShift).all().inputs[0].to(at::kFloat);
  const at::Tensor mean = w.at("network.1.running_mean.members"), var = w.at("network.1.running_var.members");
  for (int64_t k = 0; k < kMembers; ++k) {
    const at::Tensor matrix = w.at("network.0.weight") * w.at("network.0.weight.members.s")[k].unsqueeze(1) *
                              w.at("network.0.weight.members.r")[k];
    const at::Tensor h = at::linear(x, matrix, w.at("network.0.bias.members")[k]);
    const at::Tensor sd = h.std(0);
    EXPECT_LT(((h.mean(0) - mean[k]) / sd).abs().max().item<double>(), 0.5);
    EXPECT_LT((var[k].sqrt() / sd).log().abs().max().item<double>(), 0.5);
  }
  const at::Tensor spread = (mean.amax(0) - mean.amin(0)) / var.mean(0).sqrt();
  EXPECT_GT(spread.max().item<double>(), 3) << spread;
}

}  // namespace
}  // namespace slimbayes
