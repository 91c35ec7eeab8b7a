// The parts on which methods are built, on the simulated device: streams, parameters, datasets, sums over
// rows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/core/device.h"
#include "slimbayes/core/device_random.h"
#include "slimbayes/core/linear_statistics.h"
#include "slimbayes/core/random.h"
#include "slimbayes/data/device_source.h"
#include "slimbayes/nn/parameters.h"
#include "tests/device/simulated/simulated.h"

namespace slimbayes {
namespace {

using simulated::Counters;
using simulated::device;

bool same_numbers(const at::Tensor& here, const at::Tensor& there) {
  return there.device() == device() && here.scalar_type() == there.scalar_type() &&
         at::equal(here, there.cpu());
}

TEST(DeviceNames, AreReadAndRefused) {
  EXPECT_EQ(device_of("cpu"), at::Device(at::kCPU));
  EXPECT_EQ(device_of("simulated"), device(0));
  EXPECT_EQ(device_of("simulated:1"), device(1));
  EXPECT_EQ(device_of("auto"), device(0));
  EXPECT_EQ(name_of(device(1)), "simulated:1");
  EXPECT_EQ(name_of(at::kCPU), "cpu");
  const std::pair<const char*, const char*> refused[] = {{"cuda", "without CUDA"},
                                                         {"simulated:7", "one of the 2 devices"},
                                                         {"nonsense", "cpu, auto, cuda"},
                                                         {"", "cpu, auto, cuda"}};
  for (const auto& [name, words] : refused) {
    try {
      device_of(name);
      ADD_FAILURE() << name;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
}

TEST(DeviceNames, MoveTensors) {
  const at::Tensor x = at::ones({3}), there = on_device(x, device());
  EXPECT_TRUE(on_device(there, device()).is_same(there));
  EXPECT_TRUE(on_cpu(x).is_same(x));
  EXPECT_FALSE(on_cpu(at::Tensor()).defined());
  EXPECT_TRUE(same_numbers(x, there));
  EXPECT_EQ(doubles_like(there).device(), device());
  EXPECT_EQ(doubles_like(there).dtype(), at::kDouble);
}

TEST(DeviceStream, GivesTheNumbersOfTheCpu) {
  const Stream stream(17);
  const std::vector<std::vector<int64_t>> shapes = {{0},     {1},     {5},    {16384},
                                                    {16385}, {40000}, {3, 7}, {2, 1, 4}};
  for (const std::vector<int64_t>& shape : shapes) {
    const at::Tensor here = stream.normal_float32(shape);
    EXPECT_TRUE(same_numbers(here, stream.normal_float32(shape, device()))) << shape;
    const at::Tensor computed = normal_float32_of(17, shape, at::kCPU);
    EXPECT_TRUE(at::equal(here, computed)) << shape;
    EXPECT_EQ(here.sizes(), computed.sizes());
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const at::TensorOptions there = at::dtype(type).device(device());
      EXPECT_TRUE(same_numbers(stream.uniform(shape, at::dtype(type)), stream.uniform(shape, there)));
      const at::Tensor normal = stream.normal(shape, there);
      EXPECT_EQ(normal.device(), device());
      const double rounding = type == at::kFloat ? 1e-6 : 0;  // float32 numbers are made on the device
      EXPECT_TRUE(at::allclose(normal.cpu(), stream.normal(shape, at::dtype(type)), rounding, 0));
    }
  }
}

TEST(DeviceStream, FillsLargeTensorsWithoutACopy) {
  const at::TensorOptions floats = at::dtype(at::kFloat).device(device());
  const Counters work = simulated::work_of([&] {
    Stream(3).normal_float32({40000}, device());
    Stream(3).normal({40000}, floats);
  });
  EXPECT_EQ(work.to_device + work.to_host + work.items, 0);
}

Parameters parameters_on(at::Device where) {
  return {{{"w", "network", Stream(1).normal({4, 3})},
           {"b", "network", at::zeros({4}), 0.5},
           {"mean", kBuffers, at::ones({4})}},
          at::dtype(at::kFloat).device(where)};
}

TEST(DeviceParameters, AreFlatAndHaveGradients) {
  const Parameters here = parameters_on(at::kCPU), there = parameters_on(device());
  EXPECT_EQ(there.device(), device());
  EXPECT_EQ(there.size(), here.size());
  const at::Tensor x = Stream(2).normal({5, 3}, at::kFloat);
  for (const Parameters* p : {&here, &there})
    at::linear(x.to(p->device()), (*p)["w"], (*p)["b"]).square().sum().backward();
  for (const std::string& name : here.names()) EXPECT_TRUE(same_numbers(here[name], there[name])) << name;
  EXPECT_TRUE(same_numbers(here.grads("network"), there.grads("network")));
  EXPECT_EQ(here.blocks().size(), there.blocks().size());
}

/// Rows of two inputs with a target, of which every other one counts twice if `weights`.
Dataset rows_of(int64_t n, uint64_t seed, bool weights) {
  const Stream stream(seed);
  Batch all{{stream.split("x").normal({n, 2}, at::kFloat), stream.split("z").normal({n, 3}, at::kFloat)},
            stream.split("y").normal({n})};
  if (weights) all.weight = at::arange(n, at::kDouble).remainder(2) + 1;
  Schema schema;
  schema.features = {"a", "b"};
  return dataset_of(schema, std::move(all));
}

void expect_same_batch(const Batch& here, const Batch& there, const std::string& what) {
  ASSERT_EQ(here.inputs.size(), there.inputs.size()) << what;
  for (size_t i = 0; i < here.inputs.size(); ++i)
    EXPECT_TRUE(same_numbers(here.inputs[i], there.inputs[i])) << what;
  const std::pair<at::Tensor, at::Tensor> others[] = {
      {here.target, there.target}, {here.mask, there.mask}, {here.weight, there.weight}};
  for (const auto& [a, b] : others) {
    ASSERT_EQ(a.defined(), b.defined()) << what;
    if (a.defined()) {
      EXPECT_TRUE(same_numbers(a, b)) << what;
    }
  }
}

TEST(DeviceDataset, HasTheRowsOfTheCpu) {
  const at::Tensor some = at::tensor({4, 1, 7}, at::kLong);
  for (const bool weights : {false, true}) {
    const Dataset all = rows_of(9, 1, weights);
    const std::pair<const char*, Dataset> kinds[] = {{"tensors", all},
                                                     {"a subset", all.subset(at::arange(8) + 1)},
                                                     {"joined", joined(all, rows_of(5, 2, false))}};
    for (const auto& [name, here] : kinds) {
      const Dataset there = on_device(here, device());
      EXPECT_EQ(there.device(), device());
      EXPECT_EQ(there.size(), here.size());
      expect_same_batch(here.all(), there.all(), name);
      expect_same_batch(here.rows(some), there.rows(some), name);
      expect_same_batch(here.subset(some).all(), there.subset(some).all(), name);
      EXPECT_EQ(there.weights().defined(), here.weights().defined());
      if (here.weights().defined()) {
        EXPECT_TRUE(at::equal(here.weights(), there.weights()));  // on the CPU, where batches are planned
      }
    }
  }
}

TEST(DeviceDataset, JoinsDatasetsOfTheDevice) {
  const Dataset a = rows_of(6, 1, true), b = rows_of(5, 2, false);
  const Dataset there = joined(on_device(a, device()), on_device(b, device()));
  expect_same_batch(joined(a, b).all(), there.all(), "joined there");
  expect_same_batch(joined(a, b).rows(at::tensor({7, 2, 10}, at::kLong)),
                    there.rows(at::tensor({7, 2, 10}, at::kLong)), "joined there");
}

TEST(DeviceDataset, MovesRowsInMemoryOnce) {
  const Dataset there = on_device(rows_of(9, 1, true), device());
  there.all();
  const Counters work = simulated::work_of([&] { there.rows(at::tensor({4, 1}, at::kLong)); });
  EXPECT_EQ(work.to_device, 1);  // the numbers of the rows
  EXPECT_EQ(work.to_host + work.items, 0);
  EXPECT_FALSE(on_device(Dataset(), device()).source);
  const Dataset both = on_device(joined(rows_of(6, 1, true), rows_of(5, 2, false)), device());
  both.all();
  EXPECT_EQ(simulated::work_of([&] { both.rows(at::tensor({7, 2}, at::kLong)); }).to_device, 1);
}

TEST(DeviceStatistics, AreThoseOfTheCpu) {
  const Stream stream(4);
  const at::Tensor phi = stream.split("phi").normal({20, 3}, at::kFloat), y = stream.split("y").normal({20}),
                   d = stream.split("d").uniform({20}) + 0.5, weight = stream.split("w").uniform({20}) + 0.5;
  const LinearStatistics here = added(linear_statistics(3, 0.25), {phi, y, d, weight});
  const LinearStatistics there = added(
      linear_statistics(3, 0.25), {phi.to(device()), y.to(device()), d.to(device()), weight.to(device())});
  EXPECT_TRUE(there.S.is_cpu() && there.c.is_cpu() && there.ones_phi.is_cpu());
  EXPECT_TRUE(at::allclose(here.S, there.S, 1e-13, 1e-13));
  EXPECT_TRUE(at::equal(there.S, there.S.t()));
  EXPECT_TRUE(at::allclose(here.c, there.c, 1e-13, 1e-13));
  EXPECT_TRUE(at::allclose(here.ones_phi, there.ones_phi, 1e-13, 1e-13));
  EXPECT_NEAR(here.yy, there.yy, 1e-12);
  EXPECT_NEAR(here.ones_y, there.ones_y, 1e-12);
  EXPECT_NEAR(here.log_det_d, there.log_det_d, 1e-12);
  EXPECT_EQ(here.n, there.n);
  const LinearStatistics less =
      removed(there, {phi.to(device()), y.to(device()), d.to(device()), weight.to(device())});
  EXPECT_TRUE(at::allclose(less.S, at::zeros_like(less.S), 0, 1e-12));
}

}  // namespace
}  // namespace slimbayes
