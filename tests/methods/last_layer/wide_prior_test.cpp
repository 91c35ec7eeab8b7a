// Last layers under priors of every width, and what is refused before a training.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/methods/contract.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

TEST(LastLayer, EveryPriorSdOfTheRangeHasAnAnswer) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(30, 9);
  for (const char* method : {"bll", "rich-bll", "last-layer-laplace", "ntk-gp"}) {
    at::Tensor narrower = at::zeros({30}, at::kDouble);
    for (const double sd : {1e-9, 1e-5, 1e-2, 1.0, 1e2, 1e4, 1e5, 1e7, 1e9}) {
      const json wide = {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", sd}};
      const auto fitted = around(method, wide, split, network);
      const at::Tensor var = answer(*fitted, data).epistemic_var;
      // A wider prior never lowers the variance of an exact posterior. The tangent kernel's is a difference,
      // with the prior's rounding.
      const double rounding = std::string(method) == "ntk-gp" ? 1e-11 * sd * sd : 0;
      EXPECT_TRUE((var >= narrower * (1 - 1e-4) - rounding).all().item<bool>()) << method << sd;
      EXPECT_TRUE(at::isfinite(var).all().item<bool>());
      narrower = var;
    }
  }
}

TEST(LastLayer, EveryPriorSdOfTheRangeHasClasses) {
  for (const auto kind : {LikelihoodKind::softmax, LikelihoodKind::bernoulli}) {
    const Split split = contract::task_split(kind);
    const auto network = small_network(split);
    const Dataset data = contract::task_toy(kind, 40, 9);
    for (const json& method : {json{{"method", "bll"}}, json{{"method", "rich-bll"}},
                               json{{"method", "last-layer-laplace"}, {"structure", "full"}},
                               json{{"method", "last-layer-laplace"}, {"structure", "kronecker"}}}) {
      at::Tensor narrower = at::zeros({40}, at::kDouble);
      for (const double sd : {1e-9, 1e-4, 1.0, 1e3, 1e5, 1e7, 1e9}) {
        json options = {{"prior", "fixed"}, {"prior_sd", sd}};
        if (method.contains("structure")) options["structure"] = method["structure"];
        const auto fitted = around(method["method"], options, split, network);
        const auto p = std::get<Classes>(fitted->predict(data)).probabilities;
        EXPECT_LT((p.sum(1) - 1).abs().max().item<double>(), 1e-9) << method << sd;
        const at::Tensor var = fitted->ood(data).at("logit_var");
        EXPECT_TRUE((var >= narrower * (1 - 1e-3)).all().item<bool>()) << method << sd;
        narrower = var;
      }
    }
  }
}

TEST(LastLayer, AWidePriorIsTheDensePosterior) {
  // Twelve rows for thirteen features: most new rows have a part that no row determines. In float64 a kernel
  // of 1e10 beside a noise of 0.01 is known to 1e-3 of the noise.
  const Split split{contract::toy(12, 1), {}};
  const auto network = small_network(contract::toy_split());
  const Dataset data = contract::toy(30, 9);
  const at::Tensor f = 1e4 * jacobian_of(*network, split.train.all().inputs[0]).last,
                   g = 1e4 * jacobian_of(*network, data.all().inputs[0]).last;
  const auto fitted =
      around("bll", {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", 1e4}}, split, network);
  const at::Tensor k = f.mm(f.t()) + network->head.noise_var * at::eye(12, at::kDouble);
  const at::Tensor dense = (g * g).sum(1) - (g.mm(f.t()) * at::linalg_solve(k, f.mm(g.t())).t()).sum(1);
  const Regression p = answer(*fitted, data);
  EXPECT_LT((p.epistemic_var / dense - 1).abs().max().item<double>(), 1e-2);
  // Rows that were learned are known, however wide the prior is.
  for (const double sd : {1e5, 1e9}) {
    const auto wide = around("bll", {{"noise", "mse"}, {"prior", "fixed"}, {"prior_sd", sd}}, split, network);
    const Regression known = answer(*wide, split.train);
    EXPECT_LT(known.epistemic_var.max().item<double>(), 1.01 * network->head.noise_var) << sd;
    const auto back = wide->exact_posterior()->updated(data, {})->updated({}, data);
    EXPECT_LT((answer(*back, split.train).epistemic_var - known.epistemic_var).abs().max().item<double>(),
              1e-2 * network->head.noise_var)
        << sd;
  }
}

TEST(LastLayer, WhatCannotWorkIsRefusedBeforeTheTraining) {
  const Split split = contract::toy_split();
  const auto message = [&](const char* method, json options) -> std::string {
    json all = kSmallNetwork;
    all["steps"] = 1000000000;  // a training would not end
    all.update(options);
    try {
      registry_row(method).make(all)->fit(split, {Stream(5)});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(message("bll", {{"subsample", 12}}).find("a subsample of at least 13 rows"), std::string::npos);
  EXPECT_NE(message("rich-bll", {{"subsample", 0.01}}).find("at least 13 rows"), std::string::npos);
  EXPECT_NE(message("bll", {{"subsample", 40.5}}).find("a whole number of rows, or a share below 1"),
            std::string::npos);
  EXPECT_NE(message("bll", {{"subsample", 12}, {"refit", true}}).find("13 rows"), std::string::npos);
}

}  // namespace
}  // namespace slimbayes
