#include "slimbayes/nn/engine_network.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {
namespace {

Parameters started(const NetworkSpec& spec) {
  return Parameters(network_parameters(spec, "network", "network", Stream(1)), at::kFloat);
}

/// Dropout of the input, of a shortcut's source, and of a rate of zero, besides the usual places.
NetworkSpec with_dropout() {
  return {
      {{4}},
      {Dropout{0.2}, Linear{12}, Residual{{Dropout{0.3}, Linear{12}, Activation{"silu"}, Dropout{0.5}}, {}},
       Dropout{0}, Activation{"relu"}, Linear{3}}};
}

TEST(EngineNetwork, DropsWhatLibtorchDrops) {
  const at::Tensor x = Stream(2).normal({130, 4}, at::kFloat), g = Stream(3).normal({130, 3}, at::kFloat);
  for (const ForwardContext& context :
       {ForwardContext{true, Stream(4)}, ForwardContext{false, Stream(4), true}, ForwardContext{}}) {
    const NetworkSpec spec = with_dropout();
    const Parameters ours = started(spec), theirs = started(spec);
    const BoundNetwork engine(spec, "network", [&](const std::string&name) { return ours[name]; }),
        libtorch(
            spec, "network", [&](const std::string&name) { return theirs[name]; }, Execution::libtorch);
    ASSERT_TRUE(engine.by_engine());
    const at::Tensor y = engine(x, context), wanted = libtorch(x, context);
    EXPECT_TRUE(at::allclose(y, wanted, 1e-5, 1e-5));
    y.backward(g);
    wanted.backward(g);
    for (const char* name :
         {"network.1.weight", "network.2.1.weight", "network.2.1.bias", "network.5.weight"})
      EXPECT_TRUE(at::allclose(ours[name].grad(), theirs[name].grad(), 1e-4, 1e-4)) << name;
  }
}

// Far rows, and one beyond what a float squares.
TEST(EngineNetwork, IsLibtorchForRealMlp) {
  NetworkSpec spec = network_for({.network = "realmlp", .hidden = 24, .blocks = 2, .dropout = 0.1}, {{5}});
  spec.layers.push_back(output_layer("realmlp", output(spec), 2));
  at::Tensor x = 3 * Stream(2).normal({130, 5}, at::kFloat);
  x[0][0] = 1e30F;
  const at::Tensor g = Stream(3).normal({130, 2}, at::kFloat);
  const Parameters ours = started(spec), theirs = started(spec);
  const BoundNetwork engine(spec, "network", [&](const std::string&name) { return ours[name]; }),
      libtorch(
          spec, "network", [&](const std::string&name) { return theirs[name]; }, Execution::libtorch);
  ASSERT_TRUE(engine.by_engine());
  const ForwardContext context{true, Stream(4)};
  const at::Tensor y = engine(x, context), wanted = libtorch(x, context);
  EXPECT_TRUE(at::isfinite(y).all().item<bool>());
  EXPECT_TRUE(at::allclose(y, wanted, 1e-5, 1e-5));
  y.backward(g);
  wanted.backward(g);
  for (const std::string& name : ours.names())
    EXPECT_TRUE(at::allclose(ours[name].grad(), theirs[name].grad(), 1e-4, 1e-4)) << name;
}

TEST(LibraryThreads, RunEveryJobOnceOnAllThreads) {
  const ThreadScope two(2);
  std::mutex mutex;
  std::vector<int64_t> ran;
  std::set<std::thread::id> threads;
  on_library_threads(8, [&](int64_t job) {
    const std::scoped_lock lock(mutex);
    ran.push_back(job);
    threads.insert(std::this_thread::get_id());
  });
  std::ranges::sort(ran);
  EXPECT_EQ(ran, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(threads.size(), 2);
}

TEST(EngineNetwork, HasTheSameBitsForAnyNumberOfThreads) {
  const NetworkSpec spec = tabular_resnet(4, 12, 1);
  const at::Tensor x = Stream(2).normal({1000, 4}, at::kFloat), g = Stream(3).normal({1000, 12}, at::kFloat);
  std::vector<at::Tensor> found;
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    const Parameters parameters = started(spec);
    const BoundNetwork network(spec, "network", [&](const std::string& name) { return parameters[name]; });
    ASSERT_TRUE(network.by_engine());
    const at::Tensor y = network(x);
    y.backward(g);
    found.push_back(at::cat({y.detach().flatten(), parameters.grads("network")}));
  }
  EXPECT_TRUE(at::equal(found[0], found[1]) && at::equal(found[0], found[2]));
}

}  // namespace
}  // namespace slimbayes
