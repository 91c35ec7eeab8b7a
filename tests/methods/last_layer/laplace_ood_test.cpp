// The out-of-distribution scores of last-layer-laplace.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/answers/class_likelihood.h"
#include "slimbayes/method/laplace_posterior.h"
#include "slimbayes/method/network_file.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/last_layer/last_layer_features.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using nlohmann::json;

TEST(LastLayerLaplace, LogitVarLeavesOutTheShiftThatSoftmaxCannotSee) {
  constexpr double kPriorSd = 3;
  for (const auto kind : {LikelihoodKind::softmax, LikelihoodKind::bernoulli}) {
    const Split split = contract::task_split(kind);
    const Dataset data = contract::task_toy(kind, 40, 9);
    for (const char* structure : {"full", "kronecker"}) {
      const json options = {{"network", "mlp"},     {"hidden", 12},          {"blocks", 2},
                            {"activation", "tanh"}, {"steps", 600},          {"prior", "fixed"},
                            {"prior_sd", kPriorSd}, {"structure", structure}};
      const auto fitted = registry_row("last-layer-laplace").make(options)->fit(split, {Stream(5)});
      const auto network = fitted->network();
      const LastLayerFeatures features(network->spec, as_type(network->weights, at::kFloat), "test");
      const auto rows_of = [&](const Dataset& of) { return features(of.all().inputs[0].to(at::kFloat)); };
      const LastLayerRows train = rows_of(split.train), fresh = rows_of(data);
      const int64_t k = features.outputs();
      const GaussNewton h = with_rows(gauss_newton(k, features.rank(), std::string(structure) == "full"),
                                      train.features, train.output.to(at::kDouble), 1);
      const at::Tensor covariance = logit_covariance(laplace_posterior(h, kPriorSd), fresh.features, k);
      const Scores scores = fitted->ood(data);
      const at::Tensor logits = fresh.output.to(at::kDouble);
      EXPECT_TRUE(at::allclose(scores.at("energy"), energy(logits), 1e-6, 1e-6));
      for (int64_t i = 0; i < data.size(); ++i) {
        const double found = scores.at("logit_var")[i].item<double>();
        const at::Tensor of_row = covariance[i];
        if (k == 1) {
          EXPECT_NEAR(found / of_row.item<double>(), 1, 1e-6);
          continue;
        }
        // The variance of f_c - mean(f), which no common shift of the logits changes.
        const int64_t c = logits[i].argmax().item<int64_t>();
        at::Tensor contrast = at::full({k}, -1.0 / static_cast<double>(k), at::kDouble);
        contrast[c] += 1;
        EXPECT_NEAR(found / contrast.dot(of_row.mv(contrast)).item<double>(), 1, 1e-5) << structure << i;
        // What the score left out is the prior variance of the shift: no training row tells anything of it.
        const double shift = kPriorSd * kPriorSd *
                             fresh.features[i].to(at::kDouble).square().sum().item<double>() /
                             static_cast<double>(k);
        EXPECT_NEAR((of_row[c][c].item<double>() - found) / shift, 1, 1e-5) << structure << i;
      }
    }
  }
}

}  // namespace
}  // namespace slimbayes
