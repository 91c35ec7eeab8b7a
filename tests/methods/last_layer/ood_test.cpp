// Scores of foreign inputs by the last layer and by the logits.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/answers/class_metrics.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "tests/methods/contract.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

/// Returns the logits of a network. [n, k]
at::Tensor logits_of(const TrainedNetwork& trained, const Dataset& data) {
  return BoundNetwork(trained.spec, "network",
                      as_type(trained.weights, at::kFloat))(data.all().inputs[0].to(at::kFloat))
      .to(at::kDouble);
}

TEST(Ood, OfALastLayerIsTheVarianceOfThePredictedLogit) {  // R section 4.4
  const json fixed = {{"prior", "fixed"}, {"prior_sd", 0.7}, {"class_rows", 100000}};
  for (const auto kind : {LikelihoodKind::softmax, LikelihoodKind::bernoulli}) {
    const Split split = contract::task_split(kind);
    const auto network = small_network(split);
    const Dataset data = contract::task_toy(kind, 40, 9);
    const auto bll = around("bll", fixed, split, network);
    const Scores scores = bll->ood(data);
    ASSERT_EQ(scores.size(), 2u);
    const at::Tensor logits = logits_of(*network, data), predicted = logits.argmax(1);
    EXPECT_TRUE(at::allclose(scores.at("energy"), energy(logits), 1e-6, 1e-6));
    // The posterior of each logit, dense: class_noise 0.1, the rows of its class (of one logit, all).
    const LastLayerFeatures features(network->spec, as_type(network->weights, at::kFloat), "test");
    const at::Tensor train = features(split.train.all().inputs[0].to(at::kFloat)).features.to(at::kDouble);
    const at::Tensor fresh = features(data.all().inputs[0].to(at::kFloat)).features.to(at::kDouble);
    for (int64_t i = 0; i < data.size(); ++i) {
      const int64_t c = predicted[i].item<int64_t>();
      const at::Tensor own =
          logits.size(1) == 1 ? train
                              : train.index_select(0, at::nonzero(split.train.all().target == c).squeeze(1));
      const at::Tensor precision = own.t().mm(own) / 0.1 + at::eye(own.size(1), at::kDouble) / (0.7 * 0.7);
      const double var = fresh[i].dot(at::linalg_solve(precision, fresh[i])).item<double>();
      EXPECT_NEAR(scores.at("logit_var")[i].item<double>() / var, 1, 1e-6);
    }
    const Dataset far = contract::changed(data, [](Batch& b) { b.inputs[0] = 20 * b.inputs[0]; });
    EXPECT_GE(around("rich-bll", fixed, split, network)->ood(far).at("logit_var").min().item<double>(), 0);
  }
}

TEST(Ood, OfATrainedNetworkIsTheEnergyOfItsLogits) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const Dataset data = contract::task_toy(LikelihoodKind::softmax, 40, 9);
  json dropout = kSmallNetwork;
  dropout["dropout"] = 0.1;
  for (const auto& [method, options] : {std::pair{"dnn", kSmallNetwork}, std::pair{"mc-dropout", dropout}}) {
    const auto fitted = registry_row(method).make(options)->fit(split, {Stream(5)});
    const Scores scores = fitted->ood(data);
    ASSERT_EQ(scores.size(), 1u) << method;
    EXPECT_TRUE(at::equal(scores.at("energy"), energy(logits_of(*fitted->network(), data)))) << method;
    EXPECT_THROW(fitted->ood(contract::toy(5, 1, 3)), std::invalid_argument);
  }
  // An ensemble has the mean of its members'.
  json members = kSmallNetwork;
  members.update({{"of", "dnn"}, {"members", 2}});
  at::Tensor sum = at::zeros({40}, at::kDouble);
  for (uint64_t i = 0; i < 2; ++i)
    sum += registry_row("dnn")
               .make(kSmallNetwork)
               ->fit(split, {Stream(5).split("member").split(i)})
               ->ood(data)
               .at("energy");
  EXPECT_TRUE(
      at::allclose(registry_row("ensemble").make(members)->fit(split, {Stream(5)})->ood(data).at("energy"),
                   sum / 2, 1e-12, 0));
  for (const char* method : {"dnn", "rich-bll", "ntk-gp"})  // the sd is in the answer
    EXPECT_TRUE(around(method, json::object(), contract::toy_split(), small_network(contract::toy_split()))
                    ->ood(contract::toy(9, 1))
                    .empty());
}

}  // namespace
}  // namespace slimbayes
