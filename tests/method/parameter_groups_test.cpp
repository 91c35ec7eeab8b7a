#include "slimbayes/method/parameter_groups.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/train/adamw.h"

namespace slimbayes {
namespace {

TEST(ParameterGroups, HaveTheRateOfTheirGroupTimesTheirOwnFactors) {
  const at::Tensor one = at::ones({2}, at::kDouble);
  const Parameters p({{"a", "network", one}, {"b", "network", one, 0.5, 0}, {"c", "head", one}}, at::kDouble);
  const std::vector<ParameterGroup> groups =
      parameter_groups(p, {{"network", {0.1, 0.01}}, {"head", {0.2}}, {"noise", {1}}});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].name, "network");
  EXPECT_EQ(groups[0].learning_rate, 0.1);
  EXPECT_EQ(groups[0].weight_decay, 0.01);
  EXPECT_EQ(groups[1].learning_rate, 0.05);
  EXPECT_EQ(groups[1].weight_decay, 0);
  EXPECT_NE(groups[1].name, groups[0].name);
  EXPECT_EQ(groups[2].learning_rate, 0.2);
  EXPECT_THROW(parameter_groups(p, {{"network", {0.1}}}), std::logic_error);
}

// The first step of Adam has the size of the rate, whatever the gradient's.
TEST(ParameterGroups, AreUpdatedAtTheirRates) {
  const at::Tensor zero = at::zeros({2}, at::kDouble);
  const Parameters p({{"a", "network", zero}, {"b", "network", zero, 0.25}}, at::kDouble);
  AdamW optimiser(parameter_groups(p, {{"network", {0.1}}}));
  p["a"].grad().fill_(3);
  p["b"].grad().fill_(5);
  optimiser.step(1);
  EXPECT_NEAR(p["a"][0].item<double>(), -0.1, 1e-8);
  EXPECT_NEAR(p["b"][0].item<double>(), -0.025, 1e-8);
}

}  // namespace
}  // namespace slimbayes
