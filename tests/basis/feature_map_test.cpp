#include "slimbayes/basis/feature_map.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/core/check.h"

namespace slimbayes {
namespace {

at::Tensor vec(std::initializer_list<double> values) {
  return at::tensor(std::vector<double>(values), at::kDouble);
}

TEST(FeatureMap, TheMissingPriorVarianceIsUpToTheLargestOfEachRow) {
  Expansion phi{vec({1, 0, 3, 4, 6, 8}).reshape({3, 2}), {}};  // ||phi||^2 = 1, 25, 100
  EXPECT_TRUE(at::equal(missing_prior_var(phi, {}).var, vec({0, 0, 0})));
  EXPECT_TRUE(at::equal(missing_prior_var(phi, at::scalar_tensor(25.0, at::kDouble)).var, vec({24, 0, 0})));
  phi.correction = vec({2, 0.5, 7});
  EXPECT_TRUE(at::equal(missing_prior_var(phi, {}).var, phi.correction));
  phi.correction = vec({2, -1, 7});  // -1 is far more negative than rounding can make it
  EXPECT_THROW(missing_prior_var(phi, {}), NumericalError);
}

struct Mapped {
  NetworkSpec spec;
  Parameters parameters;
  FeatureMap map;

  Mapped(const std::string& basis, int64_t rank, NetworkSpec network)
      : spec(std::move(network)),
        parameters(feature_parameters(basis, rank, spec, Stream(4)), at::kDouble),
        map(
            basis, rank, spec, [this](const std::string& name) { return parameters[name]; }, "test") {}
};

TEST(FeatureMap, IsTheExpansionOfTheNetwork) {
  Mapped with("linear", 5, tabular_resnet(3, 4, 1)), without("rbf", 6, {{{3}}});
  at::Tensor x = Stream(5).normal({7, 3});
  BoundNetwork network(with.spec, "network", [&](const std::string& name) { return with.parameters[name]; });
  auto basis = bind_basis("linear", "basis", [&](const std::string& name) { return with.parameters[name]; });
  EXPECT_TRUE(at::equal(with.map(x).features, (*basis)(network(x)).features));
  EXPECT_EQ(with.map.input(), (Shape{{3}}));
  EXPECT_EQ(with.map.rank(), 5);
  EXPECT_EQ(without.map.input(), (Shape{{3}}));
  EXPECT_EQ(without.map(x).features.size(1), 6);
  auto lookup = [&](const std::string& name) { return with.parameters[name]; };
  EXPECT_THROW(FeatureMap("linear", 9, with.spec, lookup, "test"), std::invalid_argument);
  EXPECT_THROW(FeatureMap("linear", 5, tabular_resnet(3, 6, 1), lookup, "test"), std::invalid_argument);
}

TEST(FeatureMap, BackwardAddsTheGradientOfBothParts) {
  for (bool corrected : {false, true}) {
    Mapped closed("rbf", 6, tabular_resnet(3, 4, 1)), by_autograd("rbf", 6, tabular_resnet(3, 4, 1));
    at::Tensor x = Stream(5).normal({7, 3}), g = Stream(6).normal({7, 6}),
               c = Stream(7).normal(at::IntArrayRef{7});
    backward(closed.map(x), g, corrected ? c : at::Tensor());
    Expansion phi = by_autograd.map(x);
    at::Tensor loss = (phi.features * g).sum();
    if (corrected) loss = loss + (phi.correction * c).sum();
    loss.backward();
    for (const char* group : {"network", "head"}) {
      at::Tensor expected = by_autograd.parameters.grads(group);
      EXPECT_GT(expected.abs().max().item<double>(), 0);
      EXPECT_TRUE(at::allclose(closed.parameters.grads(group), expected, 1e-12, 1e-14)) << group;
    }
  }
}

}  // namespace
}  // namespace slimbayes
