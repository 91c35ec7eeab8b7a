#include "slimbayes/nn/engine_network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <vector>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/core/threads.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {
namespace {

Parameters started(const NetworkSpec& spec) {
  return Parameters(network_parameters(spec, "network", "network", Stream(1)), at::kFloat);
}

/// The outputs of a network and its parameters.
struct Outputs {
  at::Tensor y;
  const Parameters& parameters;
};

/// Sends the gradient g of the outputs back through both networks.
void expect_same_gradients(const Outputs& ours, const Outputs& theirs, const at::Tensor& g) {
  ours.y.backward(g);
  theirs.y.backward(g);
  for (const std::string& name : ours.parameters.names())
    EXPECT_TRUE(at::allclose(ours.parameters[name].grad(), theirs.parameters[name].grad(), 1e-4, 1e-4))
        << name;
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
    expect_same_gradients({y, ours}, {wanted, theirs}, g);
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
  expect_same_gradients({y, ours}, {wanted, theirs}, g);
}

// Two layers over windows, with dropout between them, which libtorch draws in the shape of a sequence.
TEST(EngineNetwork, IsLibtorchForAnLstm) {
  for (const char* biases : {"two", "one"}) {
    NetworkOptions options{.network = "lstm", .hidden = 24, .blocks = 2, .dropout = 0.2};
    options.final_norm = true;
    options.lstm_biases = biases;
    NetworkSpec spec = network_for(options, {{9, 5}});
    spec.layers.push_back(Linear{2});
    const at::Tensor x = Stream(2).normal({130, 9, 5}, at::kFloat),
                     g = Stream(3).normal({130, 2}, at::kFloat);
    for (const ForwardContext& context :
         {ForwardContext{true, Stream(4)}, ForwardContext{false, Stream(4), true}}) {
      const Parameters ours = started(spec), theirs = started(spec);
      const BoundNetwork engine(spec, "network", [&](const std::string&name) { return ours[name]; }),
          libtorch(
              spec, "network", [&](const std::string&name) { return theirs[name]; }, Execution::libtorch);
      ASSERT_TRUE(engine.by_engine());
      const at::Tensor y = engine(x, context), wanted = libtorch(x, context);
      EXPECT_TRUE(at::allclose(y, wanted, 1e-5, 1e-5));
      expect_same_gradients({y, ours}, {wanted, theirs}, g);
    }
  }
}

// A batch norm trains by libtorch, which averages the statistics of the batches, and predicts by the engine.
TEST(EngineNetwork, PredictsBatchNormsThatLibtorchTrains) {
  const NetworkSpec spec = mlp(5, 20, 2, "silu", 0, /*batch_norm=*/true);
  const at::Tensor x = 2 * Stream(2).normal({130, 5}, at::kFloat) + 1;
  const Parameters ours = started(spec), theirs = started(spec);
  const BoundNetwork engine(spec, "network", [&](const std::string&name) { return ours[name]; }),
      libtorch(
          spec, "network", [&](const std::string&name) { return theirs[name]; }, Execution::libtorch);
  EXPECT_FALSE(engine.by_engine());
  const ForwardContext training{true, Stream(4)};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(at::equal(engine(x, training), libtorch(x, training)));
  EXPECT_TRUE(at::equal(engine(x), libtorch(x)));  // with a graph for gradients
  at::NoGradGuard no_grad;
  const at::Tensor y = engine(x), wanted = libtorch(x);
  EXPECT_FALSE(at::equal(y, wanted)) << "the engine did not compute it";
  EXPECT_TRUE(at::allclose(y, wanted, 1e-5, 1e-5));
}

// A training pass changes the statistics of constant weights too; the next prediction sees them.
TEST(EngineNetwork, SeesNewStatisticsOfBatchNorms) {
  const NetworkSpec spec = mlp(5, 20, 1, "silu", 0, /*batch_norm=*/true);
  const at::Tensor x = 2 * Stream(2).normal({130, 5}, at::kFloat) + 1;
  const Parameters values = started(spec);
  const auto lookup = [&](const std::string& name) { return values[name].detach(); };
  const BoundNetwork engine(spec, "network", lookup), libtorch(spec, "network", lookup, Execution::libtorch);
  const at::Tensor before = engine(x);
  engine(x, {true, Stream(4)});
  EXPECT_FALSE(at::allclose(engine(x), before));
  EXPECT_TRUE(at::allclose(engine(x), libtorch(x), 1e-5, 1e-5));
}

// Each tensor in turn is a constant: the others get the gradient that libtorch gives them.
/// Texts of up to 7 tokens from 1 to 9, with their mask.
Input some_texts(int64_t n) {
  const at::Tensor length = (1 + 7 * Stream(5).uniform({n, 1})).floor();
  const at::Tensor mask = at::arange(7).unsqueeze(0) < length;
  return {at::where(mask, (1 + 9 * Stream(6).uniform({n, 7})).to(at::kLong), at::zeros({}, at::kLong)), mask};
}

NetworkSpec mean_of_words(bool positions, double dropout) {
  return {{{9}, true},
          {Embedding{10, 5, positions}, Dropout{dropout}, MeanOverSteps{}, Linear{3}, Activation{"silu"},
           Linear{2}}};
}

TEST(EngineNetwork, AveragesTheVectorsOfTokensAsLibtorch) {
  const Input texts = some_texts(130);
  for (const bool positions : {false, true})
    for (const double dropout : {0.0, 0.4}) {
      const NetworkSpec spec = mean_of_words(positions, dropout);
      const Parameters values = started(spec);
      const auto lookup = [&](const std::string& name) { return values[name].detach(); };
      const BoundNetwork engine(spec, "network", lookup),
          libtorch(spec, "network", lookup, Execution::libtorch);
      const NetworkLayout layout(spec, "network");
      const auto own = EngineNetwork::of(spec, layout, bound(layout, lookup));
      ASSERT_NE(own, nullptr);
      EXPECT_TRUE(own->rows_of(texts.x, texts.mask, /*training=*/false, /*drops=*/false).defined());
      EXPECT_FALSE(own->rows_of(texts.x, texts.mask, /*training=*/true, /*drops=*/true).defined());
      EXPECT_EQ(own->rows_of(texts.x, texts.mask, false, /*drops=*/true).defined(), dropout == 0);
      EXPECT_TRUE(at::allclose(engine(texts), libtorch(texts), 1e-5, 1e-6));
      EXPECT_TRUE(
          at::allclose(engine({texts.x.narrow(1, 0, 1)}), libtorch({texts.x.narrow(1, 0, 1)}), 1e-5, 1e-6));
      // Draws of the dropout are libtorch's: the plan has none of it.
      const ForwardContext draw{false, Stream(4), true};
      EXPECT_TRUE(at::allclose(engine(texts, draw), libtorch(texts, draw), 1e-5, 1e-6));
    }
}

TEST(EngineNetwork, LeavesOddTokensToLibtorch) {
  const Input texts = some_texts(20);
  const NetworkSpec spec = mean_of_words(false, 0);
  const Parameters values = started(spec);
  const auto lookup = [&](const std::string& name) { return values[name].detach(); };
  const BoundNetwork engine(spec, "network", lookup), libtorch(spec, "network", lookup, Execution::libtorch);
  const at::Tensor x = texts.x.abs().clamp_min(1);
  EXPECT_TRUE(at::equal(engine({texts.x}), libtorch({texts.x})));              // padding without a mask
  EXPECT_TRUE(at::equal(engine({x, texts.mask}), libtorch({x, texts.mask})));  // tokens behind the mask
  EXPECT_TRUE(
      at::equal(engine({at::cat({x, x}, 1)}), libtorch({at::cat({x, x}, 1)})));  // longer than the network's
  EXPECT_ANY_THROW(engine({x + 5}));                                             // of another vocabulary
  EXPECT_ANY_THROW(engine({x - 7}));
}

TEST(EngineNetwork, LeavesOutConstantTensorsOneByOne) {
  const at::Tensor x = Stream(2).normal({70, 3}, at::kFloat), g = Stream(3).normal({70, 2}, at::kFloat);
  const NetworkSpec spec{{{3}},
                         {Periodic{5, 4}, Linear{9}, LayerNorm{}, Activation{"silu"}, Scale{}, Linear{2}}};
  const Parameters all = started(spec);
  for (const std::string& constant : all.names()) {
    const Parameters ours = started(spec), theirs = started(spec);
    const auto lookup = [&](const Parameters& some) {
      return [&some, constant](const std::string& name) {
        return name == constant ? some[name].detach() : some[name];
      };
    };
    const BoundNetwork engine(spec, "network", lookup(ours)),
        libtorch(spec, "network", lookup(theirs), Execution::libtorch);
    ASSERT_TRUE(engine.by_engine()) << constant;
    engine(x).backward(g);
    libtorch(x).backward(g);
    for (const std::string& name : ours.names())
      EXPECT_TRUE(at::allclose(ours[name].grad(), theirs[name].grad(), 1e-4, 1e-4))
          << name << ", " << constant;
    EXPECT_EQ(ours[constant].grad().count_nonzero().item<int64_t>(), 0) << constant;
  }
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
