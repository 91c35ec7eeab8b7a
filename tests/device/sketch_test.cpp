// The sketch of gradients (ntk/vector_products.h) on the simulated device.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/ntk/enrichment.h"
#include "tests/device/simulated/simulated.h"
#include "tests/ntk/networks.h"

namespace slimbayes {
namespace {

constexpr int64_t kSketchRows = 24;

/// Returns the sketched gram of an mlp on a device, in batches of so many rows.
at::Tensor sketched_on(at::Device where, int64_t batch) {
  const SmallNetwork network = known_networks()[0];
  const Weights weights = network.weights();
  const GradientModel model = gradient_model(
      network.spec, "net", as_type(weights, at::dtype(at::kDouble).device(where)), at::kDouble);
  const at::Tensor x = network.rows(kSketchRows).inputs(0, kSketchRows).x.to(where);
  const GradientRows rows{.size = kSketchRows,
                          .inputs = [x](int64_t from, int64_t to) { return Input(x.slice(0, from, to)); },
                          .batch = batch};
  return enrichment(model, rows, Stream(4).normal({kSketchRows, 3}), {.route = "sketch", .sketch = 16},
                    Stream(5))
      .gram;
}

TEST(DeviceSketch, IsThatOfTheCpu) {
  const at::Tensor here = sketched_on(at::kCPU, 6), there = sketched_on(simulated::device(), 6);
  EXPECT_TRUE(there.is_cpu());
  EXPECT_LT(relative_error(there, here), 1e-12);
}

TEST(DeviceSketch, CopiesNoGradientToTheHost) {
  const auto work = [](int64_t batch) {
    return simulated::work_of([&] { sketched_on(simulated::device(), batch); });
  };
  const simulated::Counters few = work(12), many = work(3);
  EXPECT_GT(many.kernels, few.kernels);
  EXPECT_EQ(many.to_host, few.to_host);
  EXPECT_EQ(many.items, few.items);
}

}  // namespace
}  // namespace slimbayes
