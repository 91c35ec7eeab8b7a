#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "slimbayes/answers/answers.h"
#include "slimbayes/core/stored.h"
#include "slimbayes/method/registry.h"
#include "tests/methods/input_contract.h"

namespace slimbayes {
namespace {

TEST(Swag, EachDrawHasItsOwnBatchNormStatistics) {
  const auto cases = contract::input_cases();
  const contract::InputCase& c = *std::ranges::find(cases, "images", &contract::InputCase::name);
  const Split split = contract::input_split(c);
  nlohmann::json options = contract::input_options(find_method("swag"), c, 60);
  options.update({{"averaged", 5}, {"swag_rate", 0.02}, {"draws", 6}, {"deviations", 4}});
  const auto fitted = registry_row("swag").make(options)->fit(split, {Stream(5)});
  TensorFile file = fitted->save();
  ASSERT_TRUE(file.tensors.contains("swag.norms"));
  const at::Tensor norms = from_stored(file.tensors.at("swag.norms"));
  EXPECT_EQ(norms.size(0), 6);
  EXPECT_GT((norms[0] - norms[1]).abs().max().item<double>(), 1e-4);
  const auto score = [&](const Fitted& one) {
    return *mean_nll(one.predict(split.valid), split.valid.all().target);
  };
  EXPECT_EQ(score(*registry_row("swag").load(file)), score(*fitted));
  // Without them, as in older files, every draw has the statistics of the last epoch's weights.
  file.tensors.erase("swag.norms");
  EXPECT_LT(score(*fitted), score(*registry_row("swag").load(file)));  // 6e-11 and 3e-5
  file.tensors["swag.norms"] = to_stored(norms.narrow(0, 0, 5));
  EXPECT_THROW(registry_row("swag").load(file), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
