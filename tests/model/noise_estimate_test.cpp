#include "slimbayes/model/noise_estimate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace slimbayes {
namespace {

double log_likelihood(const at::Tensor& r, const at::Tensor& v, double extra) {
  const at::Tensor total = v + extra;
  return -0.5 * (total.log() + r.square() / total).sum().item<double>();
}

TEST(NoiseVarianceOfResiduals, OfEqualVariancesIsWhatTheMeanSquareLacks) {
  const at::Tensor r = Stream(1).normal({20});
  const double square = r.square().mean().item<double>();
  const at::Tensor ones = at::ones({20}, at::kDouble);
  EXPECT_NEAR(noise_variance(r, at::full({20}, 0.3, at::kDouble), ones), square - 0.3, 1e-6);
  EXPECT_NEAR(noise_variance(r, at::full({20}, 1e-12, at::kDouble), ones) / square, 1, 1e-6);
  EXPECT_NEAR(noise_variance(1e5 * r, at::full({20}, 1e-12, at::kDouble), ones) / square, 1e10, 1e4);
  EXPECT_EQ(noise_variance(r, at::full({20}, 1.1 * square, at::kDouble), ones), 0);
  EXPECT_EQ(noise_variance(r, at::full({20}, 100, at::kDouble), ones), 0);
}

TEST(NoiseVarianceOfResiduals, AGroupOfAlikeRowsCountsAsOne) {
  const at::Tensor r = Stream(1).normal({20}), repeated = at::cat({r, r[3].expand({9})});
  at::Tensor weight = at::ones({29}, at::kDouble);
  weight[3] = 0.1;
  weight.narrow(0, 20, 9).fill_(0.1);
  const at::Tensor none = at::zeros({20}, at::kDouble), more = at::zeros({29}, at::kDouble);
  EXPECT_NEAR(noise_variance(repeated, more, weight), noise_variance(r, none, at::ones({20}, at::kDouble)),
              1e-7);
  EXPECT_NEAR(noise_variance(r, none, at::ones({20}, at::kDouble)), r.square().mean().item<double>(), 1e-7);
}

TEST(NoiseVarianceOfResiduals, MaximisesTheLikelihoodOfUnequalOnes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor r = Stream(seed).normal({15}), v = at::exp(4 * Stream(seed + 100).normal({15}));
    const double best = noise_variance(r, v, at::ones({15}, at::kDouble)), most = log_likelihood(r, v, best);
    for (double extra : {0.0, 1e-8, 1e-4, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 1e3})
      EXPECT_GE(most, log_likelihood(r, v, extra) - 1e-9) << seed << " " << extra;
  }
}

}  // namespace
}  // namespace slimbayes
