// The mean of every structure against the average of its draws.
#include "slimbayes/bayes/structure.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "slimbayes/bayes/random_weights.h"

namespace slimbayes {
namespace {

TEST(Structure, ItsMeanIsTheMeanOfItsDraws) {
  const at::NoGradGuard no_grad;
  const NetworkSpec spec{{{3}}, {Linear{4}, Activation{"tanh"}, Linear{2}}};
  const NetworkLayout layout(spec, "network");
  for (const char* structure : {"mean_field", "low_rank", "rank_one"}) {
    SitePlan each;
    each.start_scale = 0.3;
    WeightPlan plan = plan_for_all(layout, each);
    for (const MapSite& site : layout.sites) {
      plan.sites[site.name].structure = structure;
      plan.sites[site.name].rank = std::string(structure) == "low_rank" ? 2 : 0;
    }
    const RandomWeights weights(layout, plan);
    std::map<std::string, at::Tensor> values;
    for (const ParameterSpec& one : weights.parameters(Stream(7))) values[one.name] = one.start;
    const WeightPosterior posterior = weights.bound([&](const std::string& name) { return values.at(name); });
    const Binding mean = posterior.mean();
    constexpr int64_t kDraws = 4000;
    std::vector<at::Tensor> sums, squares;
    for (const LinearMap& map : mean.maps) {
      sums.push_back(at::zeros_like(dense(map)));
      squares.push_back(at::zeros_like(dense(map)));
    }
    for (uint64_t s = 0; s < kDraws; ++s) {
      const WeightDraw draw = posterior.draw(Stream(8).split(s));
      for (size_t i = 0; i < sums.size(); ++i) {
        const at::Tensor w = dense(draw.binding.maps[i]);
        sums[i] += w / kDraws;
        squares[i] += w.square() / kDraws;
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      const at::Tensor se = ((squares[i] - sums[i].square()) / kDraws).sqrt();
      EXPECT_LT(((sums[i] - dense(mean.maps[i])) / se).abs().max().item<double>(), 5) << structure;
    }
    EXPECT_TRUE(at::equal(mean.tensors[layout.tensor("network.0.bias")], values.at("network.0.bias")));
  }
}

}  // namespace
}  // namespace slimbayes
