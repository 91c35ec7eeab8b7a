#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <variant>

#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"
#include "tests/methods/small_network.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using contract::answer;
using nlohmann::json;

TEST(LastLayerLaplace, ClassesKeepTheirBitsAndForget) {
  const Split split = contract::task_split(LikelihoodKind::softmax);
  const Dataset more = contract::task_toy(LikelihoodKind::softmax, 40, 8),
                test = contract::task_toy(LikelihoodKind::softmax, 30, 9);
  const auto network = registry_row("dnn").make(kSmallNetwork)->fit(split, {Stream(5)})->network();
  for (const char* structure : {"full", "kronecker"}) {
    for (const char* select : {"evidence", "nll"}) {
      const auto fitted =
          around("last-layer-laplace", {{"structure", structure}, {"select", select}}, split, network);
      const auto probabilities = [&](const Fitted& one) {
        return std::get<Classes>(one.predict(test)).probabilities;
      };
      const auto loaded = registry_row("last-layer-laplace").load(fitted->save());
      EXPECT_TRUE(at::equal(probabilities(*loaded), probabilities(*fitted))) << structure;
      const auto back = fitted->exact_posterior()->updated(more, {})->updated({}, more);
      EXPECT_TRUE(at::allclose(probabilities(*back), probabilities(*fitted), 1e-6, 1e-8)) << structure;
      const auto none =
          fitted->exact_posterior()->prior()->updated(more, {})->updated({}, more);  // all rows forgotten
      EXPECT_TRUE(
          at::allclose(probabilities(*none), probabilities(*fitted->exact_posterior()->prior()), 1e-6, 1e-8))
          << structure;
    }
  }
  const json large = {{"structure", "full"}, {"network", "mlp"}, {"hidden", 20000}};
  EXPECT_THROW(registry_row("last-layer-laplace").make(large)->fit(split, {Stream(5)}),
               std::invalid_argument);
}

TEST(LastLayerLaplace, OfARegressionIsBllWithTheEvidence) {
  const Split split = contract::toy_split();
  const auto network = small_network(split);
  const Dataset data = contract::toy(20, 9);
  const json chosen = {{"select", "evidence"}, {"noise", "mse"}, {"prior", "select"}};
  const Regression a = answer(*around("last-layer-laplace", json::object(), split, network), data),
                   b = answer(*around("bll", chosen, split, network), data);
  EXPECT_TRUE(at::equal(total_var(a), total_var(b)) && at::equal(a.epistemic_var, b.epistemic_var));
}

}  // namespace
}  // namespace slimbayes
