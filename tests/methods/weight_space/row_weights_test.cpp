// Row weights in what weight-space methods compute of rows in closed form.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/random.h"
#include "slimbayes/methods/weight_space/batch_statistics.h"
#include "slimbayes/methods/weight_space/weight_draws.h"
#include "slimbayes/nn/network.h"
#include "tests/methods/whole_weights.h"

namespace slimbayes {
namespace {

TEST(WeightSpaceRowWeights, OfTheNoiseAreRepeatedRows) {
  const at::Tensor x = Stream(1).normal({60, 1}), w = whole_weights(60);
  const Dataset rows = regression_data(x, x.select(1, 0) + (w == 3) * 0.3 * Stream(2).normal({60}));
  const WeightDraws draws{Shape{{1}}, 3, [](int64_t s) {
                            return [s](const Input& input) {
                              return input.x * (1 + 0.05 * static_cast<double>(s));
                            };
                          }};
  const double once = noise_of_draws(draws, rows, "dnn"),
               weighed = noise_of_draws(draws, weighted(rows, w), "dnn");
  EXPECT_NEAR(weighed / noise_of_draws(draws, repeated(rows, w), "dnn"), 1, 1e-6);
  EXPECT_GT(weighed,
            1.1 * once);  // the heavy rows are the noisy ones: a half of the weight, a third of the rows
}

TEST(WeightSpaceRowWeights, DrawTheRowsOfABatchNorm) {
  const NetworkSpec spec{Shape{{2, 4, 4}}, {BatchNorm{}, MeanOverImage{}, Linear{1}}};
  Batch all{{at::zeros({40, 2, 4, 4}, at::kFloat)}};
  all.inputs[0].slice(0, 20).fill_(5);
  all.target = at::zeros({40});
  const Dataset rows = dataset_of({}, all);
  Weights start;
  for (const ParameterSpec& one : network_parameters(spec, "network", "network", Stream(2)))
    start[one.name] = one.start.to(at::kFloat);
  const auto mean_of = [&](const Dataset& data) {
    for (const auto& [name, value] : with_batch_statistics(spec, start, data, Stream(3)))
      if (name.ends_with("running_mean")) return value.mean().item<double>();
    return -1.0;
  };
  EXPECT_NEAR(mean_of(rows), 2.5, 1e-5);
  at::Tensor w = at::ones({40}, at::kDouble);
  w.slice(0, 20).fill_(3);                          // 30 of the 40 places
  const double found = mean_of(weighted(rows, w));  // 3.75 on average, with an sd of some 0.2
  EXPECT_GT(found, 3);
  EXPECT_LT(found, 4.5);
}

}  // namespace
}  // namespace slimbayes
