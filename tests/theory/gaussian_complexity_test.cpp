// The Gaussian complexity: a case by hand, scaling, and the exact value of one layer.
#include "slimbayes/theory/gaussian_complexity.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

namespace slimbayes {
namespace {

TEST(ComplexityValue, OfThreeLayersByHand) {
  // |X|_F / n = 10 / 5; product of norms 2 * 3 * 0.5 = 3. With C0 = 2 the terms are
  // 4 min(sqrt 4, 3 / 2) sqrt 9 = 18, 2 sqrt(1 * 16) = 8 and sqrt(4 * 1) = 2.
  const std::vector<ComplexityLayer> layers = {{9, 4, 2, 3}, {16, 1, 3, 0}, {1, 4, 0.5, 0}};
  EXPECT_DOUBLE_EQ(complexity_value(layers, 10, 5, 2), 2.0 * 3 * (18 + 8 + 2));
}

TEST(ComplexityValue, ScalesWithEveryMatrix) {
  const std::vector<ComplexityLayer> layers = {{9, 4, 2, 3}, {16, 1, 3, 4}, {1, 4, 0.5, 2}};
  const double base = complexity_value(layers, 10, 5, 1.5);
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<ComplexityLayer> scaled = layers;
    scaled[i].spectral *= 7;
    scaled[i].frobenius *= 7;
    EXPECT_NEAR(complexity_value(scaled, 10, 5, 1.5), 7 * base, 1e-9);
  }
}

TEST(ComplexityValue, RefusesNoLayersAndNoConstant) {
  EXPECT_THROW(complexity_value({}, 1, 1, 1), std::invalid_argument);
  EXPECT_THROW(complexity_value({{}}, 1, 1, 0), std::invalid_argument);
}

TEST(OneLayerComplexity, RefusesWhatIsNoGram) {
  const auto with = [](const at::Tensor& gram, int64_t draws) {
    return one_layer_complexity(gram, 3, {1, 1, 1, 1}, Stream(1), draws);
  };
  const at::Tensor gram = at::eye(2, at::kDouble);
  EXPECT_GT(with(gram, 2).mean, 0);
  EXPECT_THROW(with(gram, 1), std::invalid_argument);
  EXPECT_THROW(with(at::Tensor(), 2), std::invalid_argument);
  EXPECT_THROW(with(gram[0], 2), std::invalid_argument);
  EXPECT_THROW(with(gram.narrow(0, 0, 1), 2), std::invalid_argument);
  EXPECT_THROW(with(gram.to(at::kFloat), 2), std::invalid_argument);
  EXPECT_THROW(with(gram / 0, 2), std::invalid_argument);
}

TEST(OneLayerComplexity, OfOneNumberIsAHalfNormalMean) {
  // One output, one input: 2 / n times E|g . x| = 2 / n sqrt(2 / pi) |x|, with |x|^2 = 9.
  const SampledMean found =
      one_layer_complexity(at::full({1, 1}, 9.0, at::kDouble), 6, {1, 1, 2, 2}, Stream(1), 20000);
  const double exact = 2.0 / 6 * std::sqrt(2 / std::numbers::pi) * 3;
  EXPECT_NEAR(found.mean, exact, 5 * found.se);
  EXPECT_LT(found.se, 0.01 * exact);
}

TEST(OneLayerComplexity, OfRankOneAndTwoOutputsIsARayleighMean) {
  // One input, two outputs: the singular value of G X is |x| times the norm of two normals, mean sqrt(pi /
  // 2).
  const SampledMean found =
      one_layer_complexity(at::full({1, 1}, 4.0, at::kDouble), 1, {2, 1, 1, 1}, Stream(2), 20000);
  EXPECT_NEAR(found.mean, 2 * std::sqrt(std::numbers::pi / 2), 5 * found.se);
}

TEST(OneLayerComplexity, IsBelowItsBoundAndGrowsWithTheRank) {
  const at::Tensor x = Stream(3).normal({40, 6}), gram = x.t().mm(x);
  double last = 0;
  for (int64_t rank : {1, 2, 4, 6}) {
    const ComplexityLayer layer{8, rank, 1.5, 1e9};
    const double found = one_layer_complexity(gram, 40, layer, Stream(4), 100).mean;
    EXPECT_GT(found, last);
    EXPECT_LT(found, complexity_value({layer}, x.norm().item<double>(), 40, 1));
    last = found;
  }
}

}  // namespace
}  // namespace slimbayes
