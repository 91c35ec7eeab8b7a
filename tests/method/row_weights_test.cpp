#include "slimbayes/method/row_weights.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "slimbayes/answers/row_mean.h"
#include "slimbayes/core/random.h"
#include "tests/methods/whole_weights.h"

namespace slimbayes {
namespace {

TEST(RowWeights, WithoutWeightsAreThePlainStatistics) {
  const at::Tensor x = Stream(1).normal({50}), at = at::tensor({0.01, 0.5, 0.99}, at::kDouble);
  EXPECT_EQ(total_of({}, 50), 50);
  EXPECT_EQ(effective_rows({}, 50), 50);
  const MeanWithError found = mean_with_error(x, {});
  EXPECT_EQ(found.mean, x.mean().item<double>());
  EXPECT_EQ(found.error, x.std().item<double>() / std::sqrt(50.0));
  EXPECT_EQ(weighted_var(x, {}), x.var(false).item<double>());
  EXPECT_EQ(weighted_median(x, {}), x.median().item<double>());
  EXPECT_TRUE(at::equal(weighted_quantiles(x, {}, at), at::quantile(x, at)));
}

TEST(RowWeights, EqualOnesChangeNothingWhateverTheirSize) {
  const at::Tensor x = Stream(1).normal({50});
  const MeanWithError plain = mean_with_error(x, {});
  for (const double size : {1.0, 0.3, 7.0}) {
    const at::Tensor w = at::full({50}, size, at::kDouble);
    EXPECT_NEAR(effective_rows(w, 50), 50, 1e-9);
    EXPECT_NEAR(mean_with_error(x, w).mean, plain.mean, 1e-14);
    EXPECT_NEAR(mean_with_error(x, w).error, plain.error, 1e-12);
  }
  EXPECT_TRUE(std::isinf(mean_with_error(x.slice(0, 0, 1), at::full({1}, 5.0, at::kDouble)).error));
}

TEST(RowWeights, WholeOnesAreRepeatedRows) {
  for (const int64_t n : {1, 2, 3, 4, 10, 31}) {
    const at::Tensor x = Stream(2).normal({n}), w = whole_weights(n), all = repeated(x, w);
    EXPECT_EQ(total_of(w, n), static_cast<double>(all.size(0)));
    EXPECT_NEAR(weighted_mean(x, w), all.mean().item<double>(), 1e-14);
    EXPECT_NEAR(weighted_var(x, w), all.var(false).item<double>(), 1e-14);
    EXPECT_EQ(weighted_median(x, w), all.median().item<double>()) << n;
    const at::Tensor at = at::tensor({0.0, 0.01, 0.3, 0.5, 0.77, 1.0}, at::kDouble);
    EXPECT_TRUE(at::allclose(weighted_quantiles(x, w, at), at::quantile(all, at), 1e-12, 1e-14)) << n;
  }
}

// Equal weights of 2 are each row twice; smaller ones have no unit.
TEST(RowWeights, QuantilesDoNotDependOnTheUnitOfSmallWeights) {
  const at::Tensor three = at::tensor({3.0, 1.0, 2.0}, at::kDouble);
  EXPECT_EQ(weighted_median(three, at::full({3}, 0.5, at::kDouble)), 2);
  const at::Tensor at = at::tensor({0.0, 0.01, 0.25, 0.5, 0.77, 1.0}, at::kDouble);
  for (const int64_t n : {1, 2, 3, 4, 10, 31, 50}) {
    const at::Tensor x = Stream(3).normal({n});
    for (const double size : {1e-6, 0.3, 0.9, 2.0}) {
      const at::Tensor w = at::full({n}, size, at::kDouble);
      const at::Tensor same = size == 2 ? repeated(x, w) : x;
      EXPECT_EQ(weighted_median(x, w), same.median().item<double>()) << n << " " << size;
      EXPECT_TRUE(at::allclose(weighted_quantiles(x, w, at), at::quantile(same, at), 1e-10, 1e-12))
          << n << " " << size;
    }
    const at::Tensor unequal = whole_weights(n) / 3, w = unequal / unequal.mean();
    EXPECT_EQ(weighted_median(x, unequal), weighted_median(x, w)) << n;
    EXPECT_TRUE(
        at::allclose(weighted_quantiles(x, 0.1 * unequal, at), weighted_quantiles(x, w, at), 1e-9, 1e-11))
        << n;
  }
}

TEST(RowWeights, HugeOnesHaveAnEffectiveNumber) {
  EXPECT_NEAR(effective_rows(at::tensor({1e200, 2e200, 3e200}, at::kDouble), 3), 36.0 / 14, 1e-12);
}

TEST(RowWeights, AFewHeavyRowsAreFewRows) {
  at::Tensor w = at::ones({100}, at::kDouble);
  w.slice(0, 0, 4).fill_(1e6);
  EXPECT_NEAR(effective_rows(w, 100), 4, 0.01);
}

}  // namespace
}  // namespace slimbayes
