#include "slimbayes/methods/weight_space/batch_statistics.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/core/random.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/train/problem.h"

namespace slimbayes {
namespace {

/// Batch norms after a convolution, within a residual layer and in its shortcut.
NetworkSpec normed() {
  const auto conv = [](int64_t out) {
    Conv2d c;
    c.out = out;
    c.kernel = 3;
    c.padding = 1;
    return c;
  };
  Residual residual;
  residual.body = {conv(5), BatchNorm{}, Activation{"relu"}};
  residual.shortcut = {conv(5), BatchNorm{}};
  return {Shape{{2, 6, 6}}, {conv(4), BatchNorm{}, Activation{"relu"}, residual, MeanOverImage{}, Linear{3}}};
}

Dataset images(int64_t n) {
  Batch all{{Stream(1).normal({n, 2, 6, 6}).to(at::kFloat)}};
  all.target = at::zeros({n});
  return dataset_of({}, all);
}

Weights starting_weights(const NetworkSpec& spec) {
  Weights weights;
  for (const ParameterSpec& one : network_parameters(spec, "network", "network", Stream(2)))
    weights[one.name] = one.start.to(at::kFloat);
  return weights;
}

TEST(BatchStatistics, AreThoseOfTheInputsOfEachNorm) {
  const NetworkSpec spec = normed();
  const Dataset rows = images(40);
  const Weights before = starting_weights(spec);
  Weights kept;
  for (const auto& [name, value] : before) kept[name] = value.clone();
  const Weights after = with_batch_statistics(spec, before, rows, Stream(3));
  for (const auto& [name, value] : before) EXPECT_TRUE(at::equal(value, kept.at(name))) << name;

  const BoundNetwork network(spec, "network", as_type(after, at::kFloat));
  const Traced traced = network.traced(input_of(rows.all()));
  int norms = 0;
  for (const Tap& tap : traced.taps) {
    if (tap.kind != BatchNorm::kind) continue;
    ++norms;
    const at::Tensor x = tap.input.transpose(0, 1).flatten(1);  // [c, n h w]
    // A training pass divides by the biased variance, this one by the unbiased one: a share of 1 / 1,440 of
    // what the first norm gives the later ones.
    const double tolerance = norms == 1 ? 1e-5 : 2e-3;
    EXPECT_TRUE(at::allclose(tap.statistics[0], x.mean(1), tolerance, 0.1 * tolerance)) << tap.layer;
    EXPECT_TRUE(at::allclose(tap.statistics[1], x.var(1), tolerance, 0.1 * tolerance)) << tap.layer;
  }
  EXPECT_EQ(norms, 3);
}

TEST(BatchStatistics, WithoutNormsNothingChanges) {
  const NetworkSpec spec{Shape{{2, 6, 6}}, {MeanOverImage{}, Linear{3}}};
  EXPECT_FALSE(has_layer<BatchNorm>(spec));
  EXPECT_TRUE(has_layer<BatchNorm>(normed()));
  const Weights before = starting_weights(spec),
                after = with_batch_statistics(spec, before, images(5), Stream(3));
  for (const auto& [name, value] : before) EXPECT_TRUE(at::equal(after.at(name), value)) << name;
}

}  // namespace
}  // namespace slimbayes
