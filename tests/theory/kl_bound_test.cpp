// The closed-form bound of the KL to a mixture: against Monte Carlo, in its limits, and summed over a
// network.
#include "slimbayes/theory/kl_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

at::Tensor all(double x, int64_t n = 1) { return at::full({n}, x, at::kDouble); }

double bound_of(const Law& law, double location, double scale, const Prior& prior) {
  return kl_bound_elements(law, all(location), all(scale), prior).item<double>();
}

TEST(KlBound, OfANormalPriorIsTheKl) {
  // KL(N(1, 4) || N(0, 9)) = (4 / 9 + 1 / 9 - 1) / 2 - ln(2 / 3).
  EXPECT_NEAR(bound_of(find_law("gaussian"), 1, 2, NormalPrior{3}),
              0.5 * (4.0 / 9 + 1.0 / 9 - 1) - std::log(2.0 / 3), 1e-14);
}

TEST(KlBound, OfAMixtureWithOneComponentIsTheKl) {
  for (const char* name : {"gaussian", "laplace"}) {
    const Law& law = find_law(name);
    const double one = bound_of(law, 0.3, 0.2, NormalPrior{0.7});
    EXPECT_DOUBLE_EQ(bound_of(law, 0.3, 0.2, MixturePrior{1, 0.7, 0.01}), one);
    EXPECT_DOUBLE_EQ(bound_of(law, 0.3, 0.2, MixturePrior{0, 5, 0.7}), one);
    EXPECT_NEAR(bound_of(law, 0.3, 0.2, MixturePrior{0.5, 0.7, 0.7}), one + std::log(2), 1e-14);
  }
}

TEST(KlBound, IsAboveTheSampledKlToAMixture) {
  constexpr int64_t kDraws = 50000;
  const Prior prior = MixturePrior{};
  for (const char* name : {"gaussian", "laplace"}) {
    const Law& law = find_law(name);
    for (const double location : {0.0, 0.004, 0.1, 2.0}) {
      for (const double scale : {0.002, 0.05, 0.8}) {
        const at::Tensor where = all(location, kDraws), wide = all(scale, kDraws);
        const at::Tensor draw = law.draw(where, wide, Stream(1).split(name));
        const at::Tensor sampled = kl_elements({law, where, wide, draw}, prior);
        const double se = sampled.std().item<double>() / std::sqrt(static_cast<double>(kDraws));
        const double bound = bound_of(law, location, scale, prior);
        EXPECT_GE(bound, sampled.mean().item<double>() - 5 * se) << name << location << " " << scale;
        if (location == 2) {  // only the wide component reaches it, so the bound is tight
          EXPECT_NEAR(bound, sampled.mean().item<double>(), 5 * se + 1e-6);
        }
      }
    }
  }
}

TEST(KlBound, OfANetworkSumsEveryRandomNumber) {
  const NetworkSpec spec{{{3}}, {Linear{4}, Activation{"tanh"}, Linear{1}}};
  WeightPlan plan;
  SitePlan each;
  each.prior = NormalPrior{0.5};
  plan.sites["network.0.weight"] = each;
  plan.sites["network.0.weight"].structure = "low_rank";
  plan.sites["network.0.weight"].rank = 2;
  plan.sites["network.2.bias"] = each;
  const RandomWeights weights(NetworkLayout(spec, "network"), plan);
  std::map<std::string, at::Tensor> values;
  for (const ParameterSpec& one : weights.parameters(Stream(7))) values[one.name] = one.start;
  const WeightPosterior posterior = weights.bound([&](const std::string& name) { return values.at(name); });
  EXPECT_EQ(posterior.factors().size(), 3);  // A, B and the bias
  EXPECT_NEAR(kl_bound(posterior, plan), posterior.kl(posterior.draw(Stream(1))).item<double>(), 1e-9);
}

}  // namespace
}  // namespace slimbayes
