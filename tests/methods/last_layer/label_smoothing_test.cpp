// Label smoothing in every training loop that takes class labels.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string_view>

#include "slimbayes/method/registry.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"

namespace slimbayes {
namespace {

using nlohmann::json;

json options_with(double smoothing) {
  return {{"network", "mlp"}, {"hidden", 12}, {"blocks", 2}, {"steps", 200}, {"label_smoothing", smoothing}};
}

// A label that keeps 0.4 + 0.6 / C of its probability makes the answers far less certain.
TEST(LabelSmoothing, MakesTheAnswersLessCertain) {
  for (LikelihoodKind likelihood : {LikelihoodKind::softmax, LikelihoodKind::bernoulli}) {
    const Split split{contract::task_split(likelihood).train, {}};
    for (const char* method : {"dnn", "mc-dropout", "swag", "batch-ensemble", "full-rank", "fid-gp"}) {
      const auto certainty = [&](double smoothing) {
        json options = options_with(smoothing);
        if (std::string_view(method) == "mc-dropout") options["dropout"] = 0.1;
        const auto fitted = registry_row(method).make(options)->fit(split, {Stream(5)});
        const auto p = std::get<Classes>(fitted->predict(split.train));
        return std::get<0>(p.probabilities.max(1)).mean().item<double>();
      };
      EXPECT_LT(certainty(0.6), certainty(0) - 0.05) << method;
    }
  }
}

TEST(LabelSmoothing, IsRefusedWithoutClasses) {
  for (const char* method : {"dnn", "swag", "batch-ensemble", "full-rank"})
    EXPECT_THROW(registry_row(method).make(options_with(0.1))->fit(contract::toy_split(), {Stream(5)}),
                 std::invalid_argument)
        << method;
}

}  // namespace
}  // namespace slimbayes
