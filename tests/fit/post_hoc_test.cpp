// rich-bll and bll around a TorchScript module: equal to those around our own network with the same weights,
// and to the dense formulas where no layer of ours computes the same.
#include "slimbayes/fit/post_hoc.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/method/registry.h"
#include "slimbayes/method/trained_network.h"
#include "slimbayes/model/model.h"
#include "slimbayes/storage/error.h"
#include "tests/fit/own_network.h"
#include "tests/methods/contract.h"
#include "tests/methods/task_contract.h"
#include "tests/nn/modules.h"

namespace slimbayes {
namespace {

using contract::answer;
using modules::LinearWeights;
using nlohmann::json;

/// The weighted route, the only exact one of a module, and a posterior with noise `mse` and prior sd 0.7.
template <class Options>
Options plain() {
  Options options;
  options.posterior.choice.noise = "mse";
  options.posterior.choice.prior = "fixed";
  options.posterior.choice.prior_sd = 0.7;
  if constexpr (requires { options.route; }) options.route = "weighted";
  return options;
}

double largest_ratio(const at::Tensor& a, const at::Tensor& b) {
  return (a / b - 1).abs().max().item<double>();
}

TEST(PostHoc, ARegressionIsThatOfOurOwnNetworkWithTheSameWeights) {
  const auto layers = modules::random_layers({2, 12, 12, 1}, 4);
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(60, 9);
  const ScriptNetwork module = ScriptNetwork::of(modules::mlp(layers, "return y.squeeze(-1)"), "head");
  FitContext context;
  context.start = own_network(layers, trained_network(module, split, "bll").head);
  const auto compare = [&](const char* method, const Fitted& of_module, const json& options) {
    const Regression a = answer(of_module, data);
    const Regression b = answer(*registry_row(method).make(options)->fit(split, context), data);
    EXPECT_TRUE(at::allclose(a.mean, b.mean, 1e-6, 1e-6));
    EXPECT_LT(largest_ratio(a.epistemic_var, b.epistemic_var), 1e-5) << method;
    EXPECT_TRUE(at::equal(a.aleatoric_var, b.aleatoric_var));
  };
  const auto rich = plain<RichBllOptions>();
  const auto bare = plain<BllOptions>();
  compare("rich-bll", *rich_bll(module, split, rich), options_to_json(rich));
  compare("bll", *bll(module, split, bare), options_to_json(bare));
}

TEST(PostHoc, ClassesAreThoseOfOurOwnNetworkWithTheSameWeights) {
  for (const auto& [likelihood, logits] :
       {std::pair(LikelihoodKind::softmax, 3), {LikelihoodKind::bernoulli, 1}}) {
    const auto layers = modules::random_layers({2, 10, 8, logits}, 4);
    const Split split = contract::task_split(likelihood);
    const Dataset data = contract::task_toy(likelihood, 60, 9);
    const ScriptNetwork module = ScriptNetwork::of(modules::mlp(layers), "head");
    FitContext context;
    context.start = own_network(layers, {likelihood, logits});
    const auto options = plain<RichBllOptions>();
    const auto a = std::get<Classes>(rich_bll(module, split, options)->predict(data));
    const auto b = std::get<Classes>(
        registry_row("rich-bll").make(options_to_json(options))->fit(split, context)->predict(data));
    EXPECT_LT(largest_ratio(a.probabilities, b.probabilities), 1e-5);
  }
}

TEST(PostHoc, SavesAndLoadsWithTheSameBits) {
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(30, 9);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const ScriptNetwork module =
        ScriptNetwork::of(modules::mlp(modules::random_layers({2, 9, 1}, 4, type)), "head");
    const auto fitted = rich_bll(module, split);
    const auto bytes = to_bytes(fitted->save());
    const auto loaded = registry_row("rich-bll").load(parse_tensor_file(bytes, "m"));
    EXPECT_TRUE(at::equal(answer(*loaded, data).epistemic_var, answer(*fitted, data).epistemic_var));
    EXPECT_TRUE(at::equal(answer(*loaded, data).mean, answer(*fitted, data).mean));
    EXPECT_EQ(to_bytes(loaded->save()), bytes);
    EXPECT_EQ(to_bytes(rich_bll(module, split)->save()), bytes);  // same seed, same bits
    FitContext context;
    context.start = loaded->network();  // a start for other methods, as any network
    const Regression again = answer(*registry_row("bll").make(json::object())->fit(split, context), data);
    EXPECT_TRUE(at::equal(again.epistemic_var, answer(*bll(module, split), data).epistemic_var));
    EXPECT_EQ(answer(*fitted, data.subset(at::arange(0))).mean.size(0), 0);
  }
}

TEST(PostHoc, ADamagedModuleInAFileIsADataError) {
  const Split split = contract::toy_split();
  const auto fitted =
      bll(ScriptNetwork::of(modules::mlp(modules::random_layers({2, 9, 1}, 4)), "head"), split);
  const auto loads = [&](auto change) {
    TensorFile file = fitted->save();
    change(file);
    registry_row("bll").load(file);
  };
  EXPECT_THROW(
      loads([](TensorFile& f) { f.tensors["module"].bytes.resize(9), f.tensors["module"].shape = {9}; }),
      DataError);
  EXPECT_THROW(loads([](TensorFile& f) { f.tensors.erase("module"); }), DataError);
  EXPECT_THROW(loads([](TensorFile& f) { f.metadata["module_layer"] = "l9"; }), std::invalid_argument);
  EXPECT_THROW(loads([](TensorFile& f) { f.metadata.erase("module_layer"); }), std::invalid_argument);
}

TEST(PostHoc, UpdatesAreThePosteriorOfAllRows) {
  const Split split = contract::toy_split();
  const Dataset more = contract::toy(40, 11), data = contract::toy(30, 9);
  const ScriptNetwork module = ScriptNetwork::of(modules::mlp(modules::random_layers({2, 9, 1}, 4)), "head");
  const auto options = plain<BllOptions>();
  const auto few = bll(module, split, options);
  const auto with = few->exact_posterior()->updated(more, {});
  // All rows at once, with the noise of the validation rows, which are the same.
  const auto all = bll(module, {joined(split.train, more), split.valid}, options);
  EXPECT_LT(largest_ratio(answer(*with, data).epistemic_var, answer(*all, data).epistemic_var), 1e-9);
  EXPECT_EQ(with->summary().rows, split.train.size() + 40);
  const auto back = with->updated({}, more);
  EXPECT_LT(largest_ratio(answer(*back, data).epistemic_var, answer(*few, data).epistemic_var), 1e-8);
}

TEST(PostHoc, IsEquivariantInTheUnitsOfTheTarget) {
  constexpr double kScale = 50;
  auto layers = modules::random_layers({2, 9, 1}, 4, at::kDouble);
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(30, 9);
  const auto scaled = [](const Dataset& rows) {
    const Batch all = rows.all();
    return regression_data(all.inputs[0], kScale * all.target);
  };
  const ScriptNetwork small = ScriptNetwork::of(modules::mlp(layers), "head");
  layers[1] = {kScale * layers[1].weight, kScale * layers[1].bias};
  const ScriptNetwork large = ScriptNetwork::of(modules::mlp(layers), "head");
  const Regression a = answer(*bll(small, split), data);
  const Regression b = answer(*bll(large, {scaled(split.train), scaled(split.valid)}), data);
  EXPECT_LT(largest_ratio(b.mean, kScale * a.mean), 1e-6);
  EXPECT_LT(largest_ratio(b.aleatoric_var, kScale * kScale * a.aleatoric_var), 1e-6);
  EXPECT_LT(largest_ratio(b.epistemic_var, kScale * kScale * a.epistemic_var), 1e-6);
}

TEST(PostHoc, TakesImagesAndTokens) {
  const Stream stream(3);
  const LinearWeights head = modules::random_layers({4, 3}, 2)[0];
  const at::Tensor y = at::arange(90, at::kLong).remainder(3);
  modules::Builder images("Images"), texts("Texts");
  images.parameter("kernel", stream.split("kernel").normal({4, 1, 3, 3}, at::kFloat)).layer("head", head);
  texts.parameter("table", stream.split("table").normal({20, 4}, at::kFloat)).layer("head", head);
  const auto of_images =
      images.forward({"return self.head.forward(torch.conv2d(x, self.kernel).tanh().mean([2, 3]))"});
  const auto of_texts = texts.forward({"return self.head.forward(torch.embedding(self.table, x).mean(1))"});
  for (const auto& [module, x] :
       {std::pair(of_images, stream.split("pixels").normal({90, 1, 6, 6}, at::kFloat)),
        {of_texts, (20 * stream.split("words").uniform({90, 5})).to(at::kLong)}}) {
    const Dataset data = class_data(x, y, 3);
    const auto fitted = rich_bll(ScriptNetwork::of(module, "head"), {data, {}});
    const auto classes = std::get<Classes>(fitted->predict(data));
    EXPECT_EQ(classes.probabilities.sizes(), (std::vector<int64_t>{90, 3}));
    EXPECT_GT(mutual_information(classes).min().item<double>(), 0);
  }
}

TEST(PostHoc, WithoutGradientsRichBllIsBll) {
  const auto layers = modules::random_layers({2, 9, 1}, 4);
  modules::Builder builder;
  builder.layer("l0", layers[0]).layer("head", layers[1]);
  const ScriptNetwork module = ScriptNetwork::of(
      builder.forward({"return self.head.forward(torch.tanh(self.l0.forward(x)).detach())"}), "head");
  const Split split = contract::toy_split();
  const Dataset data = contract::toy(30, 9);
  const auto rich = rich_bll(module, split);
  EXPECT_LT(largest_ratio(answer(*rich, data).epistemic_var, answer(*bll(module, split), data).epistemic_var),
            1e-9);
  EXPECT_TRUE(std::ranges::any_of(rich->summary().notes, [](const std::string& note) {
    return note.find("no gradient reaches") != std::string::npos;
  }));
}

TEST(PostHoc, RefusesWhatDoesNotFit) {
  const Split split = contract::toy_split();
  const auto module_of = [](std::vector<int64_t> widths) {
    return ScriptNetwork::of(modules::mlp(modules::random_layers(widths, 4)), "head");
  };
  const auto message = [&](auto body) -> std::string {
    try {
      body();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(message([&] {
              rich_bll(module_of({2, 9, 2}), split);
            }).find("a module with 1 outputs; received 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              rich_bll(module_of({3, 9, 1}), split);
            }).find("rows of shape [2]"),
            std::string::npos);
  RichBllOptions refit;
  refit.posterior.refit = true;
  EXPECT_NE(message([&] { rich_bll(module_of({2, 9, 1}), split, refit); }).find("refit"), std::string::npos);
  RichBllOptions gram;
  gram.route = "gram";
  EXPECT_NE(message([&] {
              rich_bll(module_of({2, 9, 1}), split, gram);
            }).find("weighted, sketch or auto"),
            std::string::npos);
  FitContext context;
  context.start = rich_bll(module_of({2, 9, 1}), split)->network();
  for (const char* method : {"dnn", "ntk-gp", "mc-dropout", "swag"})
    EXPECT_NE(message([&] {
                registry_row(method).make(json::object())->fit(split, context);
              }).find("a TorchScript module"),
              std::string::npos)
        << method;
}

TEST(PostHoc, ItsFileIsNoModelOfColumnsAndSaysWhatReadsIt) {
  const ScriptNetwork module =
      ScriptNetwork::of(modules::mlp(modules::random_layers({2, 6, 1}, 4), "return y.squeeze(-1)"), "head");
  const TensorFile file = rich_bll(module, contract::toy_split())->save();
  EXPECT_NO_THROW(registry_row("rich-bll").load(file));
  try {
    Model::from_file(file, "rich.safetensors");
    FAIL() << "expected a DataError";
  } catch (const DataError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("rich.safetensors: expected a model of slimbayes fit")) << text;
    EXPECT_TRUE(
        text.ends_with("a posterior around a module of somebody's own, without "
                       "columns; registry_row(METHOD).load reads it in C++ (examples/own_network.cpp)"))
        << text;
  }
}

}  // namespace
}  // namespace slimbayes
