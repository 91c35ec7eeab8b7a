#include "slimbayes/ntk/gradient_kernel.h"

#include <gtest/gtest.h>

#include "tests/ntk/networks.h"

namespace slimbayes {
namespace {

/// Expects the kernel between two sets of rows, and their norms, to be those of the explicit gradients.
void expect_dense(const SmallNetwork& network, const GradientModel& model) {
  GradientRows a = network.rows(9), b = network.rows(5, at::kDouble, 8);
  a.output = at::arange(9, at::kLong).remainder(3);
  a.batch = 4;
  const at::Tensor ja = dense_gradients(model, a), jb = dense_gradients(model, b);
  EXPECT_LT(relative_error(gradient_kernel(model, a, b), at::matmul(ja, jb.t())), 1e-11) << network.name;
  EXPECT_LT(relative_error(gradient_norms(model, a), ja.square().sum(1)), 1e-11) << network.name;
}

TEST(GradientKernel, EqualsTheDenseGradients) {
  for (const SmallNetwork& network : known_networks()) expect_dense(network, model_of(network));
  expect_dense(lstm_network(), model_of(lstm_network()));
  GradientModel opaque = model_of(known_networks()[4]);
  opaque.traced = nullptr;
  expect_dense(known_networks()[4], opaque);
}

TEST(GradientKernel, OfNoRowsIsEmpty) {
  const SmallNetwork network = known_networks()[0];
  const GradientModel model = model_of(network);
  EXPECT_EQ(gradient_kernel(model, network.rows(0), network.rows(3)).sizes(), (at::IntArrayRef{0, 3}));
  EXPECT_EQ(gradient_norms(model, network.rows(0)).numel(), 0);
}

TEST(GradientKernel, DoesNotNeedAGraph) {
  const SmallNetwork network = known_networks()[0];
  const GradientModel model = model_of(network);
  const at::Tensor norms = gradient_norms(model, network.rows(3));
  EXPECT_FALSE(norms.requires_grad());
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(gradient_norms(model, network.rows(3)), norms));
}

}  // namespace
}  // namespace slimbayes
