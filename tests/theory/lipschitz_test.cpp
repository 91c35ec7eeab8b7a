// The reach of each matrix against the largest change that random changes of it cause, and attained cases.
#include "slimbayes/theory/lipschitz.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "slimbayes/core/singular_values.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {
namespace {

/// A network with random weights in float64.
struct RandomNetwork {
  explicit RandomNetwork(const NetworkSpec& of, double scale = 1)
      : spec(of), network(spec, "network"), binding(bound(network.layout(), [&](const std::string& name) {
          for (const ParameterSpec& one : network_parameters(spec, "network", "network", Stream(11)))
            if (one.name == name) return one.start * scale;
          throw std::logic_error(name);
        })) {}

  NetworkSpec spec;
  Network network;
  Binding binding;
};

/// Changes each matrix at random and checks that no output changes by more than its reach allows.
void expect_bounded(const NetworkSpec& spec, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const RandomNetwork net(spec);
  const NetworkLayout& layout = net.network.layout();
  const std::vector<MatrixReach> reaches = matrix_reaches(spec, layout, net.binding);
  const Traced before = net.network.traced(x, net.binding);
  ASSERT_EQ(reaches.size(), layout.sites.size());
  for (size_t i = 0; i < reaches.size(); ++i) {
    ASSERT_EQ(reaches[i].downstream.unknown, "") << reaches[i].site;
    at::Tensor input;
    for (const Tap& tap : before.taps)
      if (tap.layer == layout.sites[i].layer) input = tap.input;
    const at::Tensor norms = input.flatten(1).norm(2, 1);
    for (uint64_t s = 0; s < 30; ++s) {
      Binding changed = net.binding;
      const at::Tensor weight = dense(changed.maps[i]);
      const at::Tensor change = 0.3 * Stream(12).split(s).normal(weight.sizes());
      changed.maps[i] = DenseMap{weight + change};
      const at::Tensor moved = (net.network(x, changed) - before.output).norm(2, 1);
      const double size = spectral_tail(singular_values(change.flatten(1)), 0);
      const at::Tensor most = reaches[i].inputs * reaches[i].downstream.value * size * norms;
      EXPECT_TRUE((moved <= most * (1 + 1e-9) + 1e-12).all().item<bool>()) << reaches[i].site;
    }
  }
}

TEST(ActivationConstant, IsTheLargestSlope) {
  const at::Tensor x = at::linspace(-8, 8, 2000001, at::kDouble);
  const double step = (x[1] - x[0]).item<double>();
  const auto largest = [&](const at::Tensor& y) {
    return ((y.slice(0, 1) - y.slice(0, 0, -1)).abs().max() / step).item<double>();
  };
  EXPECT_LE(largest(at::silu(x)), activation_constant("silu"));
  EXPECT_GT(largest(at::silu(x)), activation_constant("silu") - 1e-5);
  EXPECT_LE(largest(at::gelu(x)), activation_constant("gelu"));
  EXPECT_GT(largest(at::gelu(x)), activation_constant("gelu") - 2e-4);
  EXPECT_LE(largest(at::mish(x)), activation_constant("mish"));
  EXPECT_GT(largest(at::mish(x)), activation_constant("mish") - 1e-5);
  EXPECT_EQ(activation_constant("smooth-clip"), 1);
  EXPECT_EQ(activation_constant("relu"), 1);
  EXPECT_EQ(activation_constant("tanh"), 1);
  EXPECT_THROW(activation_constant("sine"), std::invalid_argument);
}

TEST(MatrixReaches, BoundAPlainNetwork) {
  for (const char* activation : {"relu", "tanh", "silu", "gelu"})
    expect_bounded(
        {{{4}},
         {Linear{6}, Activation{activation}, Dropout{0.5}, Linear{5}, Activation{activation}, Linear{2}}},
        2 * Stream(1).normal({20, 4}));
}

TEST(MatrixReaches, BoundFactorsAndEmbeddingsOfSingleFeatures) {
  expect_bounded({{{4}},
                  {Linear{3}, Activation{"smooth-clip"}, Scale{}, Periodic{.frequencies = 5, .out = 3},
                   Activation{"mish"}, Linear{2}}},
                 2 * Stream(1).normal({20, 4}));
}

TEST(MatrixReaches, CountMultipliersAndResiduals) {
  Linear scaled{5};
  scaled.scales.weight = 3;
  const Residual residual{{Linear{7}, Activation{"silu"}, scaled}, {Linear{5}}};
  expect_bounded({{{4}}, {scaled, Activation{"relu"}, residual, Residual{{Linear{5}}, {}}, Linear{3}}},
                 Stream(2).normal({20, 4}));
}

TEST(MatrixReaches, BoundConvolutions) {
  expect_bounded({{{2, 6, 6}},
                  {Conv2d{3, 3, 1, 1}, BatchNorm{}, Activation{"relu"}, Pool2d{"max", 2}, Conv2d{4, 3, 2, 1},
                   Pool2d{"mean", 2}, Flatten{}, Linear{2}}},
                 Stream(3).normal({10, 2, 6, 6}));
  expect_bounded({{{1, 4, 4}}, {Conv2d{3, 3, 1, 1}, MeanOverImage{}, Linear{2}}},
                 Stream(4).normal({10, 1, 4, 4}));
}

TEST(MatrixReaches, BoundUpsampling) {
  expect_bounded({{{2, 4, 3}}, {Conv2d{3, 1, 1, 0}, Upsample{2}, Conv2d{2, 3, 1, 1}, Flatten{}, Linear{2}}},
                 Stream(9).normal({10, 2, 4, 3}));
}

TEST(MatrixReaches, BoundSequences) {
  expect_bounded({{{5, 3}}, {Linear{4}, Activation{"tanh"}, MeanOverSteps{}, Linear{2}}},
                 Stream(5).normal({10, 5, 3}));
  expect_bounded({{{5, 3}}, {Linear{4}, Activation{"tanh"}, LastStep{}, Linear{2}}},
                 Stream(6).normal({10, 5, 3}));
}

TEST(MatrixReaches, AreAttainedByLinearLayersThatAgree) {
  // y = 2 (x1 + ...): the change of the first matrix acts along the direction that the second enlarges most.
  RandomNetwork net({{{2}}, {Linear{2, false}, Linear{1, false}}});
  net.binding.maps[1] = DenseMap{at::tensor({3.0, 4.0}, at::kDouble).view({1, 2})};  // norm 5
  const MatrixReach first = matrix_reaches(net.spec, net.network.layout(), net.binding)[0];
  EXPECT_NEAR(first.inputs * first.downstream.value, 5, 1e-12);
  const at::Tensor x = at::tensor({1.0, 0.0}, at::kDouble).view({1, 2});
  const at::Tensor before = net.network(x, net.binding);
  const at::Tensor change = at::tensor({0.6, 0.0, 0.8, 0.0}, at::kDouble).view({2, 2});  // norm 1
  net.binding.maps[0] = DenseMap{dense(net.binding.maps[0]) + change};
  EXPECT_NEAR((net.network(x, net.binding) - before).abs().item<double>(), 5, 1e-12);
}

TEST(MatrixReaches, NameTheLayerWithoutABound) {
  const NetworkSpec spec{{{4, 3}}, {Linear{4}, LayerNorm{}, Attention{2}, Lstm{3}, LastStep{}, Linear{2}}};
  const RandomNetwork net(spec);
  const std::vector<MatrixReach> all = matrix_reaches(spec, net.network.layout(), net.binding);
  ASSERT_EQ(all.size(), 8);
  EXPECT_EQ(all[0].downstream.unknown, "network.3 (lstm)");  // the layer nearest to the outputs
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(all[i].downstream.unknown, "network.2 (attention)");
  for (size_t i = 5; i < 7; ++i) EXPECT_EQ(all[i].downstream.unknown, "network.3 (lstm)");
  EXPECT_EQ(all[7].downstream.unknown, "");
  EXPECT_EQ(all[7].downstream.value, 1);
  const NetworkSpec inside{{{3}}, {Linear{3}, Residual{{LayerNorm{}, Linear{3}}, {}}, Linear{1}}};
  const RandomNetwork other(inside);
  const std::vector<MatrixReach> some = matrix_reaches(inside, other.network.layout(), other.binding);
  EXPECT_EQ(some[0].downstream.unknown, "network.1.0 (layer_norm)");
  EXPECT_EQ(some[1].downstream.unknown, "");  // what follows it is a matrix
}

}  // namespace
}  // namespace slimbayes
