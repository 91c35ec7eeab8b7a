#include "slimbayes/nn/script_network.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>

#include "slimbayes/storage/error.h"
#include "tests/nn/modules.h"

namespace slimbayes {
namespace {

using modules::Builder;
using modules::LinearWeights;
using modules::random_layers;

const at::Tensor kRows = Stream(8).normal({6, 3}, at::kFloat);

/// Returns the error of adapting the module and verifying it at x, or "none".
std::string refusal(const torch::jit::Module& module, const std::string& last_layer = "head",
                    const at::Tensor& x = kRows) {
  try {
    ScriptNetwork::of(module, last_layer).verified(x);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

void expect_refused(const torch::jit::Module& module, const std::string& part,
                    const std::string& last_layer = "head") {
  const std::string message = refusal(module, last_layer);
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(ScriptNetwork, FeaturesAndOutputAreThoseOfTheLastLayer) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const auto layers = random_layers({3, 7, 5, 2}, 1, type);
    const ScriptNetwork network = ScriptNetwork::of(modules::mlp(layers), "head");
    EXPECT_EQ(network.type(), type);
    const at::Tensor x = Stream(8).normal({20, 3}, type), hidden = modules::hidden_of(layers, x);
    const ScriptRows rows = network(x);
    EXPECT_TRUE(at::equal(rows.hidden.detach(), hidden));
    EXPECT_TRUE(at::equal(rows.output.detach(), at::linear(hidden, layers[2].weight, layers[2].bias)));
    EXPECT_TRUE(at::equal(network.weight(), layers[2].weight));
    EXPECT_TRUE(at::equal(network.bias(), layers[2].bias));
    EXPECT_EQ(network.parameters().size(), 4U);
  }
}

TEST(ScriptNetwork, SameBitsInEveryCallAndFromItsArchive) {
  const ScriptNetwork network = ScriptNetwork::of(modules::mlp(random_layers({3, 7, 2}, 1)), "head");
  const ScriptNetwork again = ScriptNetwork::from_bytes(network.archive(), network.last_layer());
  const at::Tensor first = network(kRows).output;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(at::equal(network(kRows).output, first));
  EXPECT_TRUE(at::equal(again(kRows).output, first));
}

TEST(ScriptNetwork, ReshapesOfOneOutputMayFollow) {
  const auto layers = random_layers({3, 7, 1}, 1);
  const at::Tensor output = at::linear(modules::hidden_of(layers, kRows), layers[1].weight, layers[1].bias);
  for (const char* end : {"return y.squeeze(-1)", "return y.reshape([-1])", "return y.view([-1, 1])"}) {
    EXPECT_EQ(refusal(modules::mlp(layers, end)), "none") << end;
    EXPECT_TRUE(
        at::equal(ScriptNetwork::of(modules::mlp(layers, end), "head")(kRows).output.detach(), output));
  }
  const auto two = random_layers({3, 7, 2}, 1);
  expect_refused(modules::mlp(two, "return y.reshape([2, -1])"), "expected outputs [6, 2] for 6 rows");
}

TEST(ScriptNetwork, BranchesOfTrainingAreNotTaken) {
  const auto layers = random_layers({3, 7, 1}, 1);
  Builder builder;
  builder.layer("l0", layers[0]).layer("head", layers[1]);
  const auto module = builder.forward(
      {"x = torch.dropout(torch.tanh(self.l0.forward(x)), 0.5, self.training)",
       "if self.training:", "  return 2 * self.head.forward(x)", "return self.head.forward(x)"});
  EXPECT_EQ(refusal(module), "none");
}

TEST(ScriptNetwork, FurtherInputsKeepTheirDefaults) {
  const auto layers = random_layers({3, 7, 1}, 1);
  const auto with = [&](const std::string& inputs) {
    Builder builder;
    builder.layer("l0", layers[0]).layer("head", layers[1]);
    return builder.forward({"return self.head.forward(torch.tanh(self.l0.forward(x)) * scale)"}, inputs);
  };
  EXPECT_EQ(refusal(with("x, scale: float = 2.0")), "none");
  expect_refused(with("x, scale: float"),
                 "expected a forward that takes one tensor; received one that takes 2");
}

TEST(ScriptNetwork, ASharedWeightOfTheLastLayerIsAParameterToo) {
  LinearWeights inner = random_layers({4, 4}, 1)[0], head = random_layers({4, 4}, 2)[0];
  head.weight = inner.weight;
  const LinearWeights first = random_layers({3, 4}, 3)[0];
  const ScriptNetwork network = ScriptNetwork::of(modules::mlp({first, inner, head}), "head");
  EXPECT_EQ(network.parameters().size(), 4U);  // two of l0, the shared weight, the bias of l1
  const auto gradient = torch::autograd::grad({network(kRows).hidden.sum()}, network.parameters());
  for (const at::Tensor& one : gradient) EXPECT_GT(one.abs().sum().item<double>(), 0);
  EXPECT_FALSE(network.weight().requires_grad());
}

TEST(ScriptNetwork, MayReturnTheOnlyColumnOfItsOutput) {
  const auto layers = random_layers({3, 7, 1}, 1);
  const ScriptNetwork plain = ScriptNetwork::of(modules::mlp(layers), "head");
  for (const char* end :
       {"return y[:, 0]", "return y[..., 0]", "return y.select(-1, -1)", "return y[:, :][:, 0]"}) {
    const ScriptNetwork network = ScriptNetwork::of(modules::mlp(layers, end), "head");
    EXPECT_EQ(network.verified(kRows), plain.verified(kRows)) << end;
    EXPECT_TRUE(at::equal(network(kRows).output, plain(kRows).output)) << end;
  }
  expect_refused(modules::mlp(layers, "return y[1:, 0]"), "whose last operation is slice");
  expect_refused(modules::mlp(layers, "return y[:min(y.size(0), 90)]"), "whose last operation is slice");
  expect_refused(modules::mlp(layers, "return y[0]"), "whose last operation is select");
  expect_refused(modules::mlp(random_layers({3, 7, 2}, 1), "return y[:, 0]"),
                 "whose last operation is select");
}

TEST(ScriptNetwork, DoesNotChangeTheModuleThatItCopies) {
  const auto layers = random_layers({3, 7, 1}, 1);
  const torch::jit::Module module = modules::mlp(layers);
  const ScriptNetwork network = ScriptNetwork::of(module, "head");
  EXPECT_TRUE(module.is_training());
  EXPECT_FALSE(layers[0].weight.requires_grad());
  const at::Tensor before = network(kRows).output;
  layers[0].weight.zero_();
  EXPECT_TRUE(at::equal(network(kRows).output, before));
}

TEST(ScriptNetwork, NotesOnParametersWithoutGradients) {
  auto layers = random_layers({3, 7, 1}, 1);
  for (LinearWeights& one : layers) one.weight.set_requires_grad(true);  // the biases were frozen
  const auto notes = ScriptNetwork::of(modules::mlp(layers), "head").verified(kRows);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("frozen in training (requires_grad is false) count like the others: l0.bias, "
                          "head.bias"),
            std::string::npos)
      << notes[0];
  for (LinearWeights& one : layers) one.bias.set_requires_grad(true);
  EXPECT_TRUE(ScriptNetwork::of(modules::mlp(layers), "head").verified(kRows).empty());
  Builder builder;
  builder.layer("l0", layers[0]).layer("head", layers[1]);
  const auto detached =
      ScriptNetwork::of(builder.forward({"return self.head.forward(self.l0.forward(x).detach())"}), "head")
          .verified(kRows);
  ASSERT_EQ(detached.size(), 1U);
  EXPECT_NE(detached[0].find("no gradient reaches"), std::string::npos) << detached[0];
  EXPECT_NE(detached[0].find("l0.weight, l0.bias"), std::string::npos) << detached[0];
}

TEST(ScriptNetwork, RefusesALayerThatIsNotTheLastLinearOne) {
  const auto layers = random_layers({3, 7, 1}, 1);
  expect_refused(modules::mlp(layers), "did you mean 'head'?", "haed");
  expect_refused(modules::mlp(layers), "received one that returns the output of another linear layer", "l0");
  expect_refused(modules::mlp(layers, "return torch.sigmoid(y)"), "whose last operation is sigmoid");
  expect_refused(modules::mlp(layers, "y.mul_(2.0)\n  return y"), "that applies mul_ to it");
  expect_refused(modules::mlp(layers, "return (y, x)"), "a forward that returns one tensor");
  Builder branches;
  branches.layer("head", random_layers({3, 1}, 1)[0]);
  expect_refused(branches.forward({"if bool(x.sum() > 0):", "  y = self.head.forward(x)",
                                   "else:", "  y = self.head.forward(x)", "return y"}),
                 "whose last operation is an if or a loop");
  Builder flat;
  flat.layer("head", {at::ones({3}), {}});
  expect_refused(flat.forward({"return self.head.forward(x)"}), "received a weight of shape [3]");
}

TEST(ScriptNetwork, RefusesOtherTypesAndModulesWithoutParameters) {
  expect_refused(modules::mlp(random_layers({3, 7, 1}, 1, at::kHalf)), "received Half in 'l0.weight'");
  auto mixed = random_layers({3, 7, 1}, 1);
  mixed[1].weight = mixed[1].weight.to(at::kDouble);
  expect_refused(modules::mlp(mixed), "received Double in 'head.weight'");
  torch::jit::Module empty("__torch__.Empty");
  empty.define("def forward(self, x):\n  return x\n");
  expect_refused(empty, "received a frozen module without parameters");
}

TEST(ScriptNetwork, RefusesOutputsThatDependOnChanceOrOnOtherRows) {
  const auto layers = random_layers({3, 7, 1}, 1);
  const auto ends = [&](const std::string& line) {
    Builder builder;
    builder.layer("l0", layers[0]).layer("head", layers[1]);
    return builder.forward({"x = torch.tanh(self.l0.forward(x))", line, "return self.head.forward(x)"});
  };
  expect_refused(ends("x = torch.dropout(x, 0.5, True)"), "received one with dropout in training mode");
  expect_refused(ends("x = torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)"),
                 "received one with batch_norm in training mode");
  expect_refused(ends("x = x + torch.rand_like(x)"), "expected a row's output to depend on that row alone");
  expect_refused(ends("x = x - x.mean(0)"), "expected a row's output to depend on that row alone");
}

TEST(ScriptNetwork, RefusesRowsThatTheModuleDoesNotTake) {
  const auto module = modules::mlp(random_layers({3, 7, 1}, 1));
  EXPECT_NE(refusal(module, "head", at::ones({4, 5})).find("rows of shape [5], to which it says: "),
            std::string::npos);
  EXPECT_NE(refusal(module, "head", at::ones({4, 2, 3})).find("expected one vector per row before 'head'"),
            std::string::npos);
}

TEST(ScriptNetwork, ADamagedArchiveIsADataError) {
  const std::vector<std::byte> archive =
      ScriptNetwork::of(modules::mlp(random_layers({3, 7, 1}, 1)), "head").archive();
  EXPECT_THROW(ScriptNetwork::from_bytes({}, "head"), DataError);
  EXPECT_THROW(ScriptNetwork::from_bytes(std::vector<std::byte>(500, std::byte{7}), "head"), DataError);
  EXPECT_THROW(
      ScriptNetwork::from_bytes({archive.begin(), archive.begin() + std::ssize(archive) / 2}, "head"),
      DataError);
  int64_t refused = 0;
  for (size_t at = 0; at < archive.size(); at += archive.size() / 60) {
    std::vector<std::byte> flipped = archive;
    flipped[at] ^= std::byte{0x10};
    try {
      ScriptNetwork::from_bytes(std::move(flipped), "head");  // bytes of padding may change
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace slimbayes
