// dbk-exact on rows with weights, beside repeated rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/methods/deep_kernel/exact_features.h"
#include "tests/methods/contract.h"
#include "tests/methods/repeated_rows.h"

namespace slimbayes {
namespace {

/// The loss and the gradients of a step in float64, one after another.
at::Tensor step_of(const Dataset& rows, const char* basis, double alpha, int64_t chunk) {
  const NetworkSpec spec = mlp(2, 5, 1, "tanh");
  Weights leaves;
  for (const auto& [name, value] : snapshot(exact_parameters({basis, 6, {}}, spec, Stream(1)))) {
    leaves[name] = value.to(at::kDouble).clone().set_requires_grad(true);
    leaves[name].mutable_grad() = at::zeros_like(value, at::kDouble);
  }
  const ExactFeatures model(basis, {}, spec, [&](const std::string& name) { return leaves.at(name); });
  std::vector<at::Tensor> all = {at::full({1}, ExactTraining(model, rows, alpha, chunk).step(), at::kDouble)};
  for (const auto& [name, leaf] : leaves) all.push_back(leaf.grad().flatten());
  return at::cat(all);
}

TEST(WeightedDbkExact, AStepIsThatOfRepeatedRows) {
  const Dataset toy = contract::toy(41, 5);
  const Dataset rows = regression_data(toy.all().inputs[0].to(at::kDouble), toy.all().target.to(at::kDouble));
  const RepeatedRows heavy = counted(rows);
  for (const char* basis : {"silu", "rbf"}) {
    const double alpha = std::string(basis) == "rbf" ? 0 : 0.7;
    const at::Tensor once = step_of(rows, basis, alpha, 1000);
    for (const int64_t chunk : {1000, 10}) {
      const at::Tensor own = step_of(heavy.weighted, basis, alpha, chunk),
                       copies = step_of(heavy.repeated, basis, alpha, chunk);
      EXPECT_TRUE(at::allclose(own, copies, 1e-8, 1e-10)) << basis << chunk << (own - copies).abs().max();
      EXPECT_FALSE(at::allclose(once, copies, 1e-3, 1e-4)) << basis;
    }
  }
}

TEST(WeightedDbkExact, ThePosteriorLearnsAndForgetsByTheWeights) {
  const RepeatedRows heavy = counted(contract::toy(80, 1)), more = counted(contract::toy(20, 4));
  const Dataset data = contract::toy(25, 9);
  for (const bool correction : {false, true}) {
    const nlohmann::json options = {
        {"steps", 5}, {"hidden", 8}, {"rank", 10}, {"correction", correction}, {"chunk", 33}};
    const auto fitted =
        registry_row("dbk-exact").make(options)->fit({heavy.weighted, contract::toy(20, 2)}, {Stream(3)});
    const auto same = [&](const Fitted& a, const Fitted& b, double tolerance) {
      const Regression one = contract::answer(a, data), other = contract::answer(b, data);
      EXPECT_TRUE(at::allclose(one.mean, other.mean, tolerance, tolerance)) << correction;
      EXPECT_TRUE(at::allclose(one.epistemic_var, other.epistemic_var, tolerance, tolerance)) << correction;
    };
    const ExactPosterior& posterior = *fitted->exact_posterior();
    const auto learned = posterior.prior()->updated(heavy.repeated, {});
    same(*learned, *fitted, 1e-8);  // the fit's own sums over rows with weights
    const auto both = posterior.updated(more.weighted, {});
    same(*both, *posterior.updated(more.repeated, {}), 1e-8);
    same(*both->updated({}, more.weighted), *fitted, 1e-7);
    same(*posterior.merged(*posterior.prior()->updated(more.weighted, {})), *both, 1e-8);
  }
}

}  // namespace
}  // namespace slimbayes
