#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

// The network of the mean weights would score otherwise: its activations are not those of the draws.
TEST(Bbb, TheScoreOfAFitIsTheNllOfItsAnswers) {
  nlohmann::json options = {{"network", "mlp"}, {"hidden", 12}, {"blocks", 2}, {"steps", 300}};
  for (const Split& split : {contract::toy_split(), contract::task_split(LikelihoodKind::softmax)}) {
    for (int draws : {3, 8}) {
      options["draws"] = draws;
      const auto fitted = registry_row("bbb").make(options)->fit(split, {Stream(5)});
      const double nll = *mean_nll(fitted->predict(split.valid), split.valid.all().target);
      EXPECT_NEAR(fitted->summary().best_score, nll, 1e-5 * std::abs(nll));
    }
  }
}

nlohmann::json small_bbb(nlohmann::json more) {
  nlohmann::json options = {{"network", "mlp"}, {"hidden", 12}, {"blocks", 1}, {"epochs", 40}, {"batch", 32}};
  options.update(more);
  return options;
}

// A KL term of overwhelming weight leaves the prior; without it the posterior stays where the data pull it.
TEST(Bbb, TheKlTermPullsToThePriorWhenItIsOn) {
  const Split split = contract::toy_split();
  const auto spread = [&](nlohmann::json more) {
    const auto fitted = registry_row("bbb").make(small_bbb(std::move(more)))->fit(split, {Stream(5)});
    const at::Tensor rho = from_stored(fitted->save().tensors.at("network.0.weight.spread"));
    return at::softplus(rho).mean().item<double>();
  };
  const double heavy = spread({{"beta", 1e4}, {"weight_prior_sd", 0.3}, {"learning_rate", 0.1}});
  EXPECT_NEAR(heavy, 0.3, 0.03);
  EXPECT_LT(spread({{"beta", 0}}), 0.05);
  // 38 epochs without the KL, then two: nearer to the data than to the prior.
  EXPECT_LT(spread({{"beta", 1e4}, {"kl_zero", 38}, {"kl_ramp", 2}}), 0.2);
}

TEST(Bbb, AWarmUpLongerThanTheFitIsRefused) {
  const auto fit = [&](int ramp) {
    registry_row("bbb").make(small_bbb({{"kl_ramp", ramp}}))->fit(contract::toy_split(), {Stream(5)});
  };
  EXPECT_NO_THROW(fit(39));
  EXPECT_THROW(fit(41), std::invalid_argument);
}

TEST(DrawnNetworks, AFileWhoseNetworkHasOtherOutputsThanItsHeadIsRefused) {
  for (const char* method : {"dnn", "bbb", "mc-dropout", "swag"}) {
    nlohmann::json options = {{"network", "mlp"}, {"hidden", 12}, {"blocks", 1}, {"steps", 20}};
    if (std::string(method) == "mc-dropout") options["dropout"] = 0.1;
    const auto& row = registry_row(method);
    TensorFile file = row.make(options)->fit(contract::toy_split(), {Stream(5)})->save();
    nlohmann::json network = nlohmann::json::parse(file.metadata.at("network"));
    network["layers"].back()["out"] = 3;
    file.metadata["network"] = network.dump();
    try {
      row.load(file);
      ADD_FAILURE() << method;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("ends in 1 outputs"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace slimbayes
