// Row weights in the noise of a fit: in the cross-fitted residuals and in what puts the noise in doubt.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

#include "slimbayes/fit/noise_doubt.h"
#include "slimbayes/fit/noise_folds.h"
#include "slimbayes/method/registry.h"

namespace slimbayes {
namespace {

/// Rows of a line whose second half has the noise sd 1, the first half 0.05, in random order of the halves.
struct NoisyHalves {
  at::Tensor x, y, noisy;
  explicit NoisyHalves(int64_t n)
      : x(Stream(1).normal({n, 1})), y(), noisy(at::arange(n).remainder(2).to(at::kDouble)) {
    y = x.select(1, 0) + (0.05 + 0.95 * noisy) * Stream(2).normal({n});
  }
};

/// Returns the noise variance of ridge by cross-fitting, of 50 training and 10 validation rows with weights.
double cross_fitted_noise(const at::Tensor& weights) {
  const NoisyHalves made(60);
  const Dataset all = weighted(regression_data(made.x, made.y), weights);
  const Split parts{all.subset(at::arange(50)), all.subset(at::arange(50, 60))};
  const MethodInfo& info = find_method("ridge");
  const nlohmann::json options = info.resolve(nlohmann::json::object());
  const auto main = [&](const FitContext& context) -> Tuned {
    return {options, registry_row("ridge").make(options)->fit(parts, context), {}};
  };
  return fit_with_noise_folds(info, main, parts, {5, true, Stream(3)}, {Stream(4)}).noise.var;
}

TEST(NoiseWeights, HeavyRowsCountInTheNoise) {
  const at::Tensor noisy = NoisyHalves(60).noisy;
  const double plain = cross_fitted_noise(at::ones({60}, at::kDouble));
  EXPECT_GT(cross_fitted_noise(1 + 19 * noisy), 1.5 * plain);
  EXPECT_LT(cross_fitted_noise(20 - 19 * noisy), 0.3 * plain);
}

// The size of equal weights changes what the fits know, and hardly that.
TEST(NoiseWeights, EqualOnesLeaveTheNumberOfRows) {
  const double plain = cross_fitted_noise(at::ones({60}, at::kDouble));
  EXPECT_NEAR(cross_fitted_noise(at::full({60}, 4.0, at::kDouble)) / plain, 1, 0.1);
}

/// Validation rows with these weights, beside training rows that do not matter.
Split validated(const at::Tensor& weights) {
  const NoisyHalves made(weights.size(0));
  const Dataset rows = regression_data(made.x, made.y);
  return {rows, weighted(rows, weights)};
}

TEST(NoiseWeights, AFewHeavyValidationRowsAreFew) {
  EXPECT_EQ(validation_units(validated(at::full({40}, 3.0, at::kDouble)), true), 40);
  at::Tensor heavy = at::ones({40}, at::kDouble);
  heavy.slice(0, 0, 3).fill_(1e6);
  const Split parts = validated(heavy);
  EXPECT_EQ(validation_units(parts, true), 3);
  EXPECT_EQ(validation_units(parts, false), 3);
  EXPECT_EQ(few(parts, true), "40 validation rows whose weights are worth only 3 equal ones");
  EXPECT_EQ(few(validated(at::ones({5}, at::kDouble)), true), "only 5 validation rows");
}

// An answer that misses the noisy rows: with their weights they are many, without hardly any.
TEST(NoiseWeights, DoubtGoesByTheWeights) {
  const at::Tensor y = at::cat({at::zeros({195}, at::kDouble), at::full({5}, 3.0, at::kDouble)});
  const at::Tensor x = Stream(1).normal({200, 1});
  const Dataset rows = regression_data(x, y + 0.5 * x.select(1, 0));
  const Regression p{0.5 * x.select(1, 0), at::full({200}, 0.3, at::kDouble), at::zeros({200}, at::kDouble)};
  const auto doubt = [&](double light) {
    const at::Tensor w = at::where(y == 3, 1.0, light);
    return noise_doubt(p, {rows, weighted(rows, w)}, {});
  };
  EXPECT_EQ(doubt(1).find("lie outside"), std::string::npos) << doubt(1);
  EXPECT_NE(doubt(0.05).find("lie outside"), std::string::npos) << doubt(0.05);
}

}  // namespace
}  // namespace slimbayes
