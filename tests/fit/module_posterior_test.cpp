// Posteriors around a module as front ends make them: by the name of a method, with a file of their own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/fit/post_hoc.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/storage/error.h"
#include "tests/fit/own_network.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"
#include "tests/nn/modules.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// A posterior by the front ends' function: from a module, options as JSON.
ModulePosterior posterior_of(const char* method, LikelihoodKind likelihood, int64_t logits) {
  const ScriptNetwork module =
      ScriptNetwork::of(modules::mlp(modules::random_layers({2, 10, 8, logits}, 4)), "head");
  const bool numbers = likelihood == LikelihoodKind::gaussian;
  const Split split = numbers ? contract::toy_split() : contract::task_split(likelihood);
  return module_posterior(module, split, method, json::object());
}

TEST(ModulePosterior, APosteriorComesBackFromItsFileWithTheSameBits) {
  const at::Tensor x = contract::toy(40, 9).all().inputs[0];
  for (const char* method : {"rich-bll", "bll", "last-layer-laplace"}) {
    for (const auto& [likelihood, logits] : {std::pair(LikelihoodKind::gaussian, 1),
                                             {LikelihoodKind::softmax, 3},
                                             {LikelihoodKind::bernoulli, 1}}) {
      const ModulePosterior posterior = posterior_of(method, likelihood, logits);
      const ModulePosterior back = module_posterior_from(to_file(posterior), "the file");
      EXPECT_EQ(back.method, method);
      EXPECT_EQ(back.likelihood, likelihood);
      EXPECT_EQ(back.classes, posterior.classes);
      const Predictive a = answer(posterior, x), b = answer(back, x);
      if (likelihood != LikelihoodKind::gaussian)
        EXPECT_TRUE(at::equal(std::get<Classes>(a).probabilities, std::get<Classes>(b).probabilities))
            << method;
      else
        EXPECT_TRUE(at::equal(std::get<Regression>(a).epistemic_var, std::get<Regression>(b).epistemic_var))
            << method;
      EXPECT_FALSE(ood(posterior, x).empty());
    }
  }
}

TEST(ModulePosterior, LaplaceAroundAModuleIsThatOfOurOwnNetwork) {
  const auto layers = modules::random_layers({2, 10, 8, 3}, 4);
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const ScriptNetwork module = ScriptNetwork::of(modules::mlp(layers), "head");
  FitContext context;
  context.start = own_network(layers, trained_network(module, split, "bll").head);
  const Dataset data = contract::task_toy(LikelihoodKind::softmax, 60, 9);
  const auto own = registry_row("last-layer-laplace").make(json::object())->fit(split, context);
  const auto around = module_posterior(module, split, "last-layer-laplace", json::object());
  const auto p = [&](const Fitted& fitted) { return std::get<Classes>(fitted.predict(data)).probabilities; };
  EXPECT_TRUE(at::allclose(p(*own), p(*around.fitted), 1e-4, 1e-5));
}

TEST(ModulePosterior, WhatTakesNoModuleIsRefused) {
  EXPECT_THROW(posterior_of("gp-exact", LikelihoodKind::gaussian, 1), std::invalid_argument);
  TensorFile other;
  EXPECT_THROW(module_posterior_from(other, "the file"), DataError);
  TensorFile damaged = to_file(posterior_of("bll", LikelihoodKind::bernoulli, 1));
  const std::string head = damaged.metadata["head"];
  for (const json& change : {json{{"outputs", 2}},
                             {{"likelihood", "softmax"}, {"outputs", 3}},
                             {{"likelihood", "softmax"}, {"outputs", 200000000}},
                             {{"likelihood", "poisson"}},
                             {{"likelihood", "no such"}}}) {
    json changed = json::parse(head);
    changed.update(change);
    damaged.metadata["head"] = changed.dump();
    EXPECT_ANY_THROW(module_posterior_from(damaged, "the file")) << change;
  }
  damaged.metadata["head"] = head;
  damaged.metadata["module_posterior"] = "dnn";
  EXPECT_THROW(module_posterior_from(damaged, "the file"), DataError);
}

TEST(ModulePosterior, OneOutputOfTwoClassesIsTheLogitOfClassOne) {
  const auto module = [](int64_t outputs) {
    return ScriptNetwork::of(modules::mlp(modules::random_layers({2, 10, 8, outputs}, 4)), "head");
  };
  const ScriptNetwork logit = module(1);
  EXPECT_EQ(module_likelihood(logit, 2), LikelihoodKind::bernoulli);
  EXPECT_EQ(module_likelihood(logit, 0), LikelihoodKind::gaussian);
  EXPECT_EQ(module_likelihood(module(2), 2), LikelihoodKind::softmax);
  const Split split = contract::task_split(LikelihoodKind::bernoulli);
  const at::Tensor x = contract::toy(40, 9).all().inputs[0];
  const auto p = std::get<Classes>(answer(module_posterior(logit, split, "bll", json::object()), x));
  // The posterior moves each probability towards 1/2 and leaves it on its side.
  const at::Tensor plain = at::sigmoid(logit(x.to(at::kFloat)).output.to(at::kDouble)).flatten() - 0.5,
                   found = p.probabilities.select(1, 1) - 0.5;
  EXPECT_TRUE((found * plain >= 0).all().item<bool>());
  EXPECT_TRUE((found.abs() <= plain.abs() + 1e-9).all().item<bool>());
  EXPECT_LT(found.abs().sum().item<double>(), plain.abs().sum().item<double>());
}

}  // namespace
}  // namespace slimbayes
