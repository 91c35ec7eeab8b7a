#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "slimbayes/core/answers.h"
#include "slimbayes/methods/registry.h"
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

}  // namespace
}  // namespace slimbayes
