// Posteriors around a module as front ends make them: by the name of a method, with a file of their own.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/method/trained_network.h"
#include "slimbayes/methods/registry.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/workflow/post_hoc.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"
#include "tests/nn/modules.h"
#include "tests/workflow/own_network.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// A posterior by the front ends' function: from a module, options as JSON.
ModulePosterior posterior_of(const char* method, LikelihoodKind likelihood, int64_t logits) {
  const ScriptNetwork module =
      ScriptNetwork::of(modules::mlp(modules::random_layers({2, 10, 8, logits}, 4)), "head");
  const bool numbers = likelihood == LikelihoodKind::gaussian;
  const Split split = numbers ? contract::toy_split() : contract::task_split(likelihood);
  return module_posterior(module, split, numbers ? 0 : logits, method, json::object());
}

TEST(ModulePosterior, APosteriorComesBackFromItsFileWithTheSameBits) {
  const at::Tensor x = contract::toy(40, 9).all().inputs[0];
  for (const char* method : {"rich-bll", "bll", "last-layer-laplace"}) {
    for (const auto& [likelihood, logits] :
         {std::pair(LikelihoodKind::gaussian, 1), {LikelihoodKind::softmax, 3}}) {
      const ModulePosterior posterior = posterior_of(method, likelihood, logits);
      const ModulePosterior back = module_posterior_from(to_file(posterior), "the file");
      EXPECT_EQ(back.method, method);
      EXPECT_EQ(back.classes, logits > 1 ? logits : 0);
      const Predictive a = answer(posterior, x), b = answer(back, x);
      if (logits > 1)
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
  const auto around = module_posterior(module, split, 3, "last-layer-laplace", json::object());
  const auto p = [&](const Fitted& fitted) { return std::get<Classes>(fitted.predict(data)).probabilities; };
  EXPECT_TRUE(at::allclose(p(*own), p(*around.fitted), 1e-4, 1e-5));
}

TEST(ModulePosterior, WhatTakesNoModuleIsRefused) {
  EXPECT_THROW(posterior_of("gp-exact", LikelihoodKind::gaussian, 1), std::invalid_argument);
  TensorFile other;
  EXPECT_THROW(module_posterior_from(other, "the file"), DataError);
}

}  // namespace
}  // namespace slimbayes
