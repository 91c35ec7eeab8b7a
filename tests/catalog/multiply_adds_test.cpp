#include "slimbayes/catalog/network/multiply_adds.h"

#include <gtest/gtest.h>

#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {
namespace {

TEST(MultiplyAdds, CountsTheMatricesOfALayer) {
  EXPECT_EQ(multiply_adds({{{7}}, {Linear{5}, Activation{}, Linear{2}}}), 7 * 5 + 5 * 2);
  EXPECT_EQ(multiply_adds({{{3, 8, 6}}, {Conv2d{.out = 4, .stride = 2}}}), 4 * 3 * 9 * 4 * 3);
  EXPECT_EQ(multiply_adds({{{24, 9}}, {Lstm{5}}}), 24 * 4 * 5 * (9 + 5));
  EXPECT_EQ(multiply_adds({{{10, 8}}, {Attention{2}, Linear{3}}}), 10 * 4 * 64 + 2 * 100 * 8 + 10 * 8 * 3);
  EXPECT_EQ(multiply_adds({{{7}}, {Periodic{.frequencies = 16, .out = 4}, Scale{}}}), 7 * 16 * 4);
  EXPECT_EQ(multiply_adds({{{4}}, {Residual{{Linear{4}}, {Linear{4}}}}}), 32);
}

// The published 0.56 billion of a ResNet-18 on images of 32 x 32; FiD-GP prints 1.1 G operations, twice as
// many.
TEST(MultiplyAdds, OfResNet18AreThePublishedOnes) {
  NetworkSpec spec = network_for({.network = "resnet18", .hidden = 64}, Shape{{3, 32, 32}});
  spec.layers.push_back(Linear{100});
  // the first convolution; a stage of four convolutions; three stages that halve the sides; the output layer
  const int64_t first = 3 * 9 * 64 * 1024, full = 64 * 9 * 64 * 1024;
  const int64_t halving = full / 2 + 3 * full + 64 * 128 * 256;
  EXPECT_EQ(multiply_adds(spec), first + 4 * full + 3 * halving + 512 * 100);
  EXPECT_NEAR(2e-9 * static_cast<double>(multiply_adds(spec)), 1.1, 0.05);
}

}  // namespace
}  // namespace slimbayes
