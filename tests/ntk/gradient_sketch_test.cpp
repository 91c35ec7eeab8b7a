#include "slimbayes/ntk/gradient_sketch.h"

#include <gtest/gtest.h>

#include "slimbayes/ntk/gradient_kernel.h"
#include "tests/ntk/networks.h"

namespace slimbayes {
namespace {

constexpr int kSketches = 12;

GradientRows rows_of(const SmallNetwork& network) {
  GradientRows rows = network.rows(7);
  rows.output = at::arange(7, at::kLong).remainder(3);
  return rows;
}

/// The mean over independent sketches of q ||K^ - K||_F^2, over ||K||_F^2 + tr(K)^2: 1 for Gaussian features.
double relative_variance(const GradientModel& model, const GradientRows& rows, int64_t q) {
  const at::Tensor exact = gradient_kernel(model, rows, rows);
  const at::Tensor unit = exact.square().sum() + exact.trace().square();
  double sum = 0;
  for (uint64_t k = 0; k < kSketches; ++k) {
    const at::Tensor f = GradientSketch(model, q, Stream(11).split(k))(rows);
    sum += ((f.mm(f.t()) - exact).square().sum() / unit).item<double>() / kSketches;
  }
  return static_cast<double>(q) * sum;
}

TEST(GradientSketch, TheErrorFallsAsTheRootOfTheSize) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientModel model = model_of(network);
    const double few = relative_variance(model, rows_of(network), 64),
                 many = relative_variance(model, rows_of(network), 512);
    EXPECT_LT(few, 6) << network.name;  // the products of two signs have a fourth moment of up to 9
    EXPECT_LT(many, 6) << network.name;
    EXPECT_GT(many, few / 4) << network.name;  // the test does not compare zeros
  }
}

TEST(GradientSketch, HashesNetworksWhoseLayersAreNotKnown) {
  GradientModel opaque = model_of(known_networks()[4]);
  opaque.traced = nullptr;
  EXPECT_LT(relative_variance(opaque, rows_of(known_networks()[4]), 512), 2);
  const SmallNetwork lstm = lstm_network();
  EXPECT_LT(relative_variance(model_of(lstm), rows_of(lstm), 512), 2);
}

TEST(GradientSketch, DoesNotDependOnTheBatches) {
  for (const SmallNetwork& network : known_networks()) {
    const GradientSketch sketch(model_of(network), 50, Stream(3));
    GradientRows rows = rows_of(network);
    const at::Tensor whole = sketch(rows);
    rows.batch = 2;
    EXPECT_LT((sketch(rows) - whole).abs().max().item<double>(), 1e-12) << network.name;
    EXPECT_LT((GradientSketch(model_of(network), 50, Stream(3))(rows) - whole).abs().max().item<double>(),
              1e-12);
  }
}

TEST(GradientSketch, OfNoRowsIsEmpty) {
  const SmallNetwork network = known_networks()[0];
  EXPECT_EQ(GradientSketch(model_of(network), 5, Stream(1))(network.rows(0)).sizes(),
            (at::IntArrayRef{0, 5}));
  EXPECT_THROW(GradientSketch(model_of(network), 0, Stream(1)), std::invalid_argument);
}

}  // namespace
}  // namespace slimbayes
