#include "slimbayes/methods/weight_space/inducing/inducing_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/networks.h"
#include "tests/data/tables.h"

namespace slimbayes {
namespace {

NetworkLayout resnet(int64_t width, int64_t classes) {
  NetworkSpec spec = network_for({.network = "resnet18", .hidden = width}, Shape{{3, 32, 32}});
  spec.layers.push_back(Linear{classes});
  return {spec, "network"};
}

NetworkLayout plain(const std::vector<int64_t>& widths) {
  NetworkSpec spec{{{widths[0]}}};
  for (size_t i = 1; i < widths.size(); ++i) spec.layers.push_back(Linear{widths[i]});
  return {spec, "network"};
}

/// Returns how many numbers the plan trains.
int64_t trained_numbers(const NetworkLayout& layout, const WeightPlan& plan) {
  int64_t count = 0;
  for (const ParameterSpec& one : RandomWeights(layout, plan).parameters(Stream(0)))
    if (one.group != kBuffers) count += one.start.numel();
  return count;
}

FidGpOptions of_paper(int64_t size) {
  const auto options =
      preset_options(find_method("fid-gp"), "paper", {{"inducing_rows", size}, {"inducing_columns", size}});
  return options_from_json<FidGpOptions>(options, "fid-gp");
}

TEST(InducingPlan, ThePresetOfThePaperHasTheNumbersOfItsTable) {
  // FiD-GP table 6 with our own counts (experiments/f_table6): ResNet-18, 100 classes, output layer
  // 100 x 128.
  const NetworkLayout layout = resnet(64, 100);
  EXPECT_EQ(trained_numbers(layout, {}), 11220132);
  const std::pair<int64_t, int64_t> counts[] = {
      {32, 1354637}, {64, 2657773}, {128, 5509805}, {256, 12196909}};
  for (const auto& [size, numbers] : counts) {
    EXPECT_EQ(trained_numbers(layout, inducing_plan(layout, of_paper(size), "matheron")), numbers) << size;
  }
}

TEST(InducingPlan, ALayerHasTheNumbersOfTheFormula) {
  const int64_t in = 40, out = 24, r = 5, c = 7;
  for (const char* flow : {"none", "certified", "paper", "spectral"}) {
    for (const bool noisy : {false, true}) {
      FidGpOptions o;
      o.inducing.inducing_rows = r, o.inducing.inducing_columns = c, o.inducing.noisy_z = noisy;
      o.flow = flow;
      const NetworkLayout layout = plain({in, out, 2});
      const WeightPlan plan = inducing_plan(layout, o, "reparam");
      WeightPlan first;
      first.sites["network.0.weight"] = plan.sites.at("network.0.weight");
      const int64_t of_output = 2 * (out + 1);
      const int64_t of_flow = flow == std::string("none")        ? 0
                              : flow == std::string("certified") ? 16 * c + 16 + 16 * c + c + c
                                                                 : 50 * c + 1104;
      EXPECT_EQ(trained_numbers(layout, first) - of_output,
                r * out + c * (in + 1) + 2 * r * c + (r + c) + 1 + of_flow + (noisy ? r + c : 0));
    }
  }
}

TEST(InducingPlan, SizesThatAreNotGivenFollowFromTheLayer) {
  FidGpOptions o;
  const WeightPlan plan = inducing_plan(plain({8, 64, 2000, 3, 1000}), o, "matheron");
  const InducingPlan &first = plan.sites.at("network.0.weight").inducing,
                     &second = plan.sites.at("network.1.weight").inducing,
                     &third = plan.sites.at("network.2.weight").inducing,
                     &last = plan.sites.at("network.3.weight").inducing;
  EXPECT_EQ(first.rows, 32);
  EXPECT_EQ(first.columns, 9);  // 8 inputs and the bias
  EXPECT_EQ(second.rows, 32);   // half of the 65 columns
  EXPECT_EQ(second.columns, 32);
  EXPECT_EQ(third.rows, 3);
  EXPECT_EQ(third.columns, 32);
  EXPECT_EQ(last.rows, 1000);  // as many as outputs
  EXPECT_EQ(last.columns, 4);
  const WeightPlan wide = inducing_plan(plain({600, 2000}), o, "matheron");
  EXPECT_EQ(wide.sites.at("network.0.weight").inducing.columns, 128);
  EXPECT_NEAR(std::get<NormalPrior>(plan.sites.at("network.1.weight").prior).sd, 1 / std::sqrt(65.0), 1e-15);
  o.inducing.inducing_rows = 100;  // more than a side has: allowed
  EXPECT_EQ(inducing_plan(plain({8, 64, 3}), o, "matheron").sites.at("network.0.weight").inducing.rows, 100);
}

TEST(InducingPlan, TakesTheLayersThatAreNamedAndRefusesOthers) {
  const NetworkLayout layout = resnet(4, 10);
  FidGpOptions o;
  o.inducing.bayesian_layers = {"layer2.1.conv1, layer2.1.conv2", "layer4.1.conv2"};
  EXPECT_EQ(inducing_plan(layout, o, "matheron").sites.size(), 3U);
  const auto with = [&](std::vector<std::string> names) {
    o.inducing.bayesian_layers = std::move(names);
    return error_of([&] { inducing_plan(layout, o, "matheron"); });
  };
  expect_has(with({"layer9.conv1"}), "received 'layer9.conv1'; its layers are conv1, layer1.0.conv1");
  expect_has(with({}), "at least one layer");
  o = {};
  o.inducing.start_noise = 0.1;
  expect_has(with({"all"}), "below most_noise");
  o.inducing.start_noise = 1e-3, o.inducing.inducing_sd = 0.1;
  expect_has(with({"all"}), "below most_inducing_sd");
}

TEST(InducingPlan, TheLimitOfTheNoiseHasAPrice) {
  const NetworkLayout layout = plain({8, 64, 3});
  const double weights = 64 * 9 + 3 * 65;
  EXPECT_NEAR(least_kl(layout, inducing_plan(layout, {}, "matheron")) / weights, 3.007, 5e-4);
  // A network whose noise is at its limit cannot have less.
  const WeightPlan plan = inducing_plan(layout, {}, "matheron");
  const RandomWeights random(layout, plan);
  std::map<std::string, at::Tensor> values;
  for (const ParameterSpec& one : random.parameters(Stream(1))) values[one.name] = one.start;
  for (auto& [name, value] : values)
    if (name.ends_with(".noise")) value.fill_(1e3);
  const WeightPosterior q = random.bound([&](const std::string& name) { return values.at(name); });
  // At the limit, the KL of the noise is the floor; the rest is the KL of U, in closed form without a flow.
  FidGpOptions plain_options;
  plain_options.flow = "none";
  const WeightPlan closed = inducing_plan(layout, plain_options, "matheron");
  const RandomWeights same(layout, closed);
  std::map<std::string, at::Tensor> of;
  double of_u = 0;
  for (const ParameterSpec& one : same.parameters(Stream(1))) of[one.name] = one.start;
  for (auto& [name, value] : of) {
    if (name.ends_with(".noise")) value.fill_(1e3);
    if (!name.ends_with(".inducing")) continue;
    const at::Tensor sd = closed.sites.begin()->second.inducing.most_sd * of.at(name + ".spread").sigmoid();
    of_u += (0.5 * (sd.square() + value.square() - 1) - sd.log()).sum().item<double>();
  }
  const WeightPosterior p = same.bound([&](const std::string& name) { return of.at(name); });
  const double kl = p.kl(p.draw(Stream(2))).item<double>();
  EXPECT_NEAR(kl - of_u, least_kl(layout, closed), 1e-6 * kl);
  EXPECT_GT(q.kl(q.draw(Stream(2))).item<double>(), least_kl(layout, plan));
}

}  // namespace
}  // namespace slimbayes
