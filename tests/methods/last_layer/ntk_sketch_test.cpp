// ntk-sketch against ntk-gp, which it approximates, and bll, which it contains.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/answers/class_metrics.h"
#include "tests/methods/contract.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

const json kSame = {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 0.7}};

json sketched(int64_t size) {
  json options = kSame;
  options["sketch"] = size;
  return options;
}

TEST(NtkSketch, ComesToTheProcessThatItApproximates) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(100, 9);
  const at::Tensor exact = answer(*around("ntk-gp", kSame, split, network), data).epistemic_var;
  const auto error = [&](int64_t size) {
    const Regression p = answer(*around("ntk-sketch", sketched(size), split, network), data);
    return (p.epistemic_var / exact).log().square().mean().sqrt().item<double>();
  };
  const double few = error(64), many = error(2048);
  EXPECT_LT(many, 0.1);
  EXPECT_LT(many, few / 2);
}

TEST(NtkSketch, IsNeverBelowBllAndKeepsTheMean) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(200, 9);
  const Regression bll = answer(*around("bll", kSame, split, network), data);
  for (const int64_t size : {1, 30, 300}) {
    const Regression p = answer(*around("ntk-sketch", sketched(size), split, network), data);
    EXPECT_TRUE(at::equal(p.mean, bll.mean));
    EXPECT_TRUE(at::equal(p.aleatoric_var, bll.aleatoric_var));
    EXPECT_TRUE((p.epistemic_var >= bll.epistemic_var * (1 - 1e-6)).all().item<bool>()) << size;
  }
}

TEST(NtkSketch, IsNearerToTheProcessThanRichBllWhereRowsAreMany) {
  const Split split{contract::toy(1000, 1), contract::toy(200, 2)};
  const auto network = small_network(split);
  const Dataset data = contract::toy(200, 9);
  const auto variance = [&](const char* method, const json& options) {
    return answer(*around(method, options, split, network), data).epistemic_var;
  };
  const at::Tensor exact = variance("ntk-gp", kSame);
  const auto error = [&](const at::Tensor& var) {
    return (var / exact).log().square().mean().sqrt().item<double>();
  };
  EXPECT_LT(error(variance("ntk-sketch", sketched(512))), 0.5 * error(variance("rich-bll", kSame)));
}

TEST(NtkSketch, ClassesHaveAPosteriorPerLogit) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  json options = kSmallNetwork;
  options["sketch"] = 64;
  const auto fitted = registry_row("ntk-sketch").make(options)->fit(split, {Stream(5)});
  const auto dnn = registry_row("dnn").make(kSmallNetwork)->fit(split, {Stream(5)});
  const Dataset data = contract::task_toy(LikelihoodKind::softmax, 300, 9);
  const auto a = std::get<Classes>(fitted->predict(data)), b = std::get<Classes>(dnn->predict(data));
  EXPECT_LT(class_nll(a, data.all().target), class_nll(b, data.all().target) + 0.05);
  EXPECT_GT(mutual_information(a).mean().item<double>(), 0);
}

}  // namespace
}  // namespace slimbayes
