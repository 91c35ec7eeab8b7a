#include "slimbayes/engine/regression_step.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "slimbayes/catalog/network/networks.h"

namespace slimbayes::engine {
namespace {

using Tensors = std::vector<std::vector<float>>;

std::shared_ptr<const Plan> plan_of(bool inducing) {
  auto plan = std::make_shared<Plan>(5);
  EXPECT_EQ(plan->append(tabular_resnet(5, 20, 1), "network"), "");
  if (inducing) return plan;
  plan->append_dense("basis.weight", "basis.bias", 24);
  plan->append_activation(ActivationStep::Function::silu);
  plan->append_scale("basis.scale");
  return plan;
}

Tensors random_tensors(const std::vector<int64_t>& sizes, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  Tensors all;
  for (const int64_t size : sizes) {
    std::vector<float>& one = all.emplace_back();
    for (int64_t i = 0; i < size; ++i) one.push_back(0.3F * normal(bits));
  }
  return all;
}

/// Returns every gradient of a step of 700 rows: of the plan's parameters, then of the head's.
Tensors gradients_of(bool inducing, const kernels::Kernels& k, const Parallel& parallel) {
  const auto plan = plan_of(inducing);
  const int64_t rows = 700, r = 24;
  RegressionStep step =
      inducing ? RegressionStep(plan, r, RegressionStep::Correction::kernel, k) : RegressionStep(plan, k);
  const Tensors values = random_tensors(plan->sizes(), 1),
                head = random_tensors({r, r, r * r, 1, r * 20, 20, 1}, 2),
                data = random_tensors({rows * 5, rows}, 3);
  Tensors gradients = random_tensors(plan->sizes(), 1), of_head = head;
  std::vector<const float*> at;
  std::vector<float*> to;
  for (const auto& each : values) at.push_back(each.data());
  for (auto* all : {&gradients, &of_head})
    for (auto& each : *all) each.assign(each.size(), 0);
  for (auto& each : gradients) to.push_back(each.data());
  const auto loss =
      step.run(at,
               {head[0].data(),
                head[1].data(),
                head[2].data(),
                head[3].data(),
                {head[4].data(), head[5].data(), head[6].data()}},
               data[0].data(), data[1].data(), rows, {.alpha = inducing ? 0 : 0.1, .kl_weight = 0.01}, to,
               {of_head[0].data(),
                of_head[1].data(),
                of_head[2].data(),
                of_head[3].data(),
                {of_head[4].data(), of_head[5].data(), of_head[6].data()}},
               {}, parallel);
  EXPECT_TRUE(loss && std::isfinite(loss->total));
  gradients.insert(gradients.end(), of_head.begin(), of_head.end());
  return gradients;
}

TEST(RegressionStep, HasTheSameBitsOnAnyThreadsInAnyOrder) {
  const Parallel backwards = [](int64_t count, const std::function<void(int64_t)>& job) {
    for (int64_t i = count; i-- > 0;) job(i);
  };
  const Parallel threads = [](int64_t count, const std::function<void(int64_t)>& job) {
    std::vector<std::jthread> all;
    for (int64_t i = 0; i < count; ++i) all.emplace_back([&job, i] { job(i); });
  };
  for (const bool inducing : {false, true}) {
    const Tensors alone = gradients_of(inducing, kernels::kernels(), {});
    EXPECT_EQ(gradients_of(inducing, kernels::kernels(), backwards), alone);
    EXPECT_EQ(gradients_of(inducing, kernels::kernels(), threads), alone);
  }
}

TEST(RegressionStep, HasTheSameBitsOnTargetsWithFusedMultiplyAdds) {
  for (const bool inducing : {false, true}) {
    std::vector<Tensors> found;
    for (const kernels::Kernels& k : kernels::all_kernels())
      if (std::string_view(k.target) != "SSE4") found.push_back(gradients_of(inducing, k, {}));
    for (const Tensors& each : found) EXPECT_EQ(each, found.front());
  }
}

}  // namespace
}  // namespace slimbayes::engine
