#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "slimbayes/catalog/methods.h"
#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/network/visit_layers.h"
#include "slimbayes/catalog/trained_network_options.h"

namespace slimbayes {
namespace {

using nlohmann::json;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

json vector_of(int64_t size, json layers) {
  return {{"input", {{"sizes", {size}}}}, {"layers", std::move(layers)}};
}
json linear(int64_t out) { return {{"kind", "linear"}, {"out", out}}; }
json residual(json body) { return {{"kind", "residual"}, {"body", std::move(body)}}; }

/// Returns the shape of one layer's output.
Shape through(const LayerSpec& layer, Shape input) { return output(layer, std::move(input)); }

TEST(Networks, TabularResnetIsAppendixB) {
  const NetworkSpec spec = tabular_resnet(5, 16, 2);
  const json as_json = to_json(spec)["layers"];
  ASSERT_EQ(as_json.size(), 5u);
  EXPECT_EQ(as_json[0], (json{{"kind", "linear"}, {"out", 16}, {"bias", true}}));
  ASSERT_EQ(as_json[1]["body"].size(), 4u);
  EXPECT_EQ(as_json[1]["body"][0]["kind"], "layer_norm");
  EXPECT_EQ(as_json[1]["body"][2]["function"], "silu");
  EXPECT_EQ(as_json[1], as_json[2]);
  EXPECT_EQ(output(spec), (Shape{{16}}));
  EXPECT_EQ(tabular_resnet(5, 16, 0).layers.size(), 3u);
}

TEST(Networks, MlpIsLinearAndActivationInTurn) {
  const json layers = to_json(mlp(5, 16, 2, "tanh"))["layers"];
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[3]["function"], "tanh");
  EXPECT_THROW(mlp(5, 16, 0, "tanh"), std::invalid_argument);
}

TEST(Networks, AnMlpTakesBatchNorms) {
  const NetworkSpec spec = network_for(
      {.network = "mlp", .activation = "tanh", .hidden = 100, .blocks = 3, .batch_norm = true}, {{1}});
  std::vector<std::string> kinds;
  for (const LayerSpec& layer : spec.layers) kinds.push_back(kind_of(layer));
  EXPECT_EQ(kinds, (std::vector<std::string>{"linear", "batch_norm", "activation", "linear", "batch_norm",
                                             "activation", "linear", "batch_norm", "activation"}));
  EXPECT_EQ(to_json(network_from_json(to_json(spec))), to_json(spec));
}

TEST(Networks, EachTakesItsRowsAndEndsInAVector) {
  const struct {
    Shape input;
    std::vector<std::string> names;
  } kinds[] = {{{{7}}, {"tabular_resnet", "mlp", "realmlp"}},
               {{{24, 9}}, {"lstm", "transformer"}},
               {{{1, 28, 28}}, {"convnet", "resnet18", "mlp"}},
               {{{3, 33, 31}}, {"resnet18", "convnet"}},
               {{{50}, true}, {"transformer"}}};
  for (const auto& kind : kinds) {
    for (const std::string& name : kind.names) {
      NetworkOptions options{.network = name, .dropout = 0.1};
      const NetworkSpec spec = network_for(options, kind.input, 100);
      EXPECT_TRUE(output(spec).is_vector()) << name;
      EXPECT_EQ(to_json(network_from_json(to_json(spec))), to_json(spec)) << name;
    }
    NetworkOptions wrong{.network = kind.input.is_image() ? "lstm" : "convnet"};
    expect_has(error_of([&] { network_for(wrong, kind.input, 100); }), kind.names.front());
  }
  EXPECT_EQ(output(network_for({}, {{3, 32, 32}})), (Shape{{128}}));  // "auto" chooses convnet
  EXPECT_EQ(output(network_for({.network = "resnet18"}, {{3, 32, 32}})), (Shape{{512}}));
}

TEST(Networks, OfSegmentationKeepTheSidesOfAnImage) {
  for (const Shape& image : {Shape{{3, 96, 128}}, Shape{{1, 7, 6}}, Shape{{2, 12, 1}}}) {
    const Shape features = output(network_for({.blocks = 4, .dropout = 0.1}, image, 0, /*by_pixel=*/true));
    EXPECT_EQ(features, (Shape{{16, image.sizes[1], image.sizes[2]}}));
    const NetworkSpec whole = trained_network_spec({}, image, 0, 11, /*by_pixel=*/true);
    EXPECT_EQ(output(whole), (Shape{{11, image.sizes[1], image.sizes[2]}}));
    EXPECT_EQ(to_json(network_from_json(to_json(whole))), to_json(whole));
  }
  const auto levels = [](int64_t blocks) {  // residuals inside residuals
    int64_t count = 0;
    visit_layers(network_for({.blocks = blocks}, {{3, 24, 40}}, 0, true), "",
                 [&](const LayerSpec& layer, const Shape&, const std::string&) {
                   count += std::holds_alternative<Residual>(layer);
                 });
    return count;
  };
  EXPECT_EQ(levels(0), 0);
  EXPECT_EQ(levels(2), 2);
  EXPECT_EQ(levels(9), 3);  // 24 can be halved three times
  expect_has(error_of([] {
               network_for({.network = "convnet"}, {{3, 8, 8}}, 0, true);
             }),
             "a network for segmentation; received 'convnet'; fcn takes it");
  expect_has(error_of([] { network_for({.network = "fcn"}, {{3, 8, 8}}); }), "received 'fcn'; convnet and");
}

TEST(Networks, DependOnTheOptionsThatTheyAreSaidToUse) {
  const std::map<std::string, Shape> inputs = {{"tabular_resnet", {{7}}},
                                               {"mlp", {{7}}},
                                               {"realmlp", {{7}}},
                                               {"lstm", {{24, 9}}},
                                               {"convnet", {{1, 28, 28}}},
                                               {"resnet18", {{3, 32, 32}}},
                                               {"transformer", {{50}, true}},
                                               {"bag_of_words", {{50}, true}},
                                               {"fcn", {{3, 32, 32}}}};
  const json others = {{"activation", "tanh"}, {"hidden", 32},        {"blocks", 3},
                       {"heads", 2},           {"dropout", 0.1},      {"feedforward", 40},
                       {"positions", false},   {"final_norm", false}, {"lstm_biases", "one"}};
  for (const auto& [name, input] : inputs) {
    const auto layers = [&, &name = name, &input = input](json given) {
      given["network"] = name;
      return to_json(
          network_for(options_from_json<NetworkOptions>(given, "test"), input, 100, name == "fcn"));
    };
    for (const auto& [option, value] : others.items()) {
      EXPECT_EQ(layers({{option, value}}) != layers(json::object()), uses_option(name, option))
          << name << option;
      const std::vector<std::string> using_it = networks_using(option);
      EXPECT_EQ(std::ranges::find(using_it, name) != using_it.end(), uses_option(name, option));
    }
  }
  EXPECT_EQ(std::ssize(inputs), std::ssize(network_catalog()));
  for (const InputKind kind :
       {InputKind::table, InputKind::windows, InputKind::images, InputKind::text, InputKind::segmentation})
    EXPECT_EQ(find_network("auto", kind).name, networks_for(kind).front());
  expect_has(error_of([] { find_network("lstn", InputKind::windows); }), "did you mean 'lstm'?");
  EXPECT_EQ(network_name("auto", InputKind::windows), "lstm");
  EXPECT_EQ(network_name("mlp", InputKind::table), "mlp");
}

TEST(Networks, RealMlpEmbedsScalesAndThenIsWide) {
  const NetworkSpec spec =
      network_for({.network = "realmlp", .hidden = 32, .blocks = 2, .dropout = 0.1}, {{7}});
  std::vector<std::string> kinds;
  for (const LayerSpec& layer : spec.layers) kinds.push_back(kind_of(layer));
  EXPECT_EQ(kinds, (std::vector<std::string>{"activation", "periodic", "scale", "linear", "activation",
                                             "dropout", "linear", "activation", "dropout"}));
  EXPECT_EQ(output(spec.layers[1], {{7}}), (Shape{{28}}));
  TrainedNetworkOptions options;
  options.network = {.network = "realmlp", .hidden = 32};
  const NetworkSpec whole = trained_network_spec(options, {{7}}, 0, 1);
  const Scales first = std::get<Linear>(whole.layers[3]).scales,
               last = std::get<Linear>(whole.layers.back()).scales;
  EXPECT_EQ(first.weight, 1 / std::sqrt(28.0));
  EXPECT_EQ(last.weight, 1 / std::sqrt(32.0));
  EXPECT_EQ(last.start, 1);
  EXPECT_EQ(last.weight_rate, 20);
  EXPECT_EQ(last.bias_rate, 2);
  const Scales usual = std::get<Linear>(trained_network_spec({}, {{7}}, 0, 1).layers.back()).scales;
  EXPECT_EQ(usual.start, 0);
}

TEST(Networks, ARecipeFillsInWhatIsNotGiven) {
  const json bare = find_method("bll").resolve({{"network", "realmlp"}});
  EXPECT_EQ(bare["hidden"], 256);
  EXPECT_EQ(bare["schedule"], "cosine-log");
  EXPECT_EQ(bare["learning_rate"], 0.01);
  EXPECT_EQ(bare["beta2"], 0.95);
  EXPECT_EQ(find_method("bll").resolve(bare), bare);
  const json own = find_method("bll").resolve({{"network", "realmlp"}, {"hidden", 8}, {"patience", 3}});
  EXPECT_EQ(own["hidden"], 8);
  EXPECT_EQ(own["patience"], 3);
  EXPECT_EQ(own["epochs"], 256);
  const json full_batch = find_method("dbk-exact").resolve({{"network", "realmlp"}});
  EXPECT_EQ(full_batch["hidden"], 256);
  EXPECT_EQ(full_batch["learning_rate"], find_method("dbk-exact").resolve(json::object())["learning_rate"]);
  EXPECT_EQ(find_method("ensemble").resolve({{"of", "dnn"}, {"network", "realmlp"}})["epochs"], 256);
  EXPECT_EQ(find_method("bll").resolve({{"network", "realmlp"}, {"steps", 60}})["epochs"], 0);
  EXPECT_THROW(find_method("bll").resolve({{"network", "realmpl"}}), std::invalid_argument);
  EXPECT_THROW(find_method("bll").resolve({{"network", 3}}), std::invalid_argument);
}

TEST(Networks, ATrainingByCosineLogCostsAllItsEpochs) {
  const auto least = [](const json& given) {
    const MethodInfo& bll = find_method("bll");
    return bll.cost({4000, {{6}}}, bll.resolve(given)).least;
  };
  const double whole = least({{"network", "realmlp"}}),
               quarter = least({{"network", "realmlp"}, {"epochs", 64}});
  EXPECT_GT(whole, 3.5 * quarter);
  EXPECT_EQ(least({{"epochs", 64}}), least({{"epochs", 256}}));  // half an epoch of the others
}

TEST(Networks, OnlyTextsHavePositionsToLeaveOut) {
  const NetworkOptions options{.network = "transformer", .positions = false};
  EXPECT_NO_THROW(network_for(options, {{50}, true}, 100));
  expect_has(error_of([&] { network_for(options, {{24, 9}}); }), "received windows; leave `.positions` out");
}

TEST(Networks, AnMlpTakesThePixelsOfAnImageAsAVector) {
  const NetworkSpec spec = network_for({.network = "mlp", .hidden = 32, .blocks = 2}, {{1, 28, 28}});
  NetworkSpec flat = mlp(784, 32, 2, "silu");
  flat.layers.insert(flat.layers.begin(), Flatten{});
  EXPECT_EQ(to_json(spec)["layers"], to_json(flat)["layers"]);
  EXPECT_EQ(spec.input, (Shape{{1, 28, 28}}));
}

TEST(Networks, TheHeadsOfATransformerDivideItsWidth) {
  const auto error = [](int64_t hidden, int64_t heads) {
    return error_of([&] {
      network_for({.network = "transformer", .hidden = hidden, .heads = heads}, {{9, 4}});
    });
  };
  expect_has(error(64, 3), "received `.hidden=64` and `.heads=3`; `.heads=2` divides it");
  expect_has(error(9, 4), "`.heads=3` divides it");
  expect_has(error(2, 4), "`.heads=2` divides it");
  EXPECT_EQ(error(64, 4), "no error");
  EXPECT_NO_THROW(network_for({.network = "transformer", .blocks = 0, .heads = 3}, {{9, 4}}));
}

TEST(NetworkSpec, InfersShapes) {
  EXPECT_EQ(through(Linear{4}, {{9}}), (Shape{{4}}));
  EXPECT_EQ(through(Linear{4}, {{-1, 9}}), (Shape{{-1, 4}}));
  EXPECT_EQ(through(Conv2d{8, 3, 2, 1}, {{2, 7, 6}}), (Shape{{8, 4, 3}}));
  EXPECT_EQ(through(Pool2d{"max", 2}, {{2, 7, 6}}), (Shape{{2, 3, 3}}));
  EXPECT_EQ(through(Flatten{}, {{2, 3, 3}}), (Shape{{18}}));
  EXPECT_EQ(through(MeanOverImage{}, {{2, 3, 3}}), (Shape{{2}}));
  EXPECT_EQ(through(Embedding{50, 6}, {{12}, true}), (Shape{{12, 6}}));
  EXPECT_EQ(through(Lstm{5}, {{24, 3}}), (Shape{{24, 5}}));
  EXPECT_EQ(through(LastStep{}, {{24, 5}}), (Shape{{5}}));
}

TEST(NetworkSpec, AMismatchIsASentence) {
  expect_has(error_of([] { through(Conv2d{}, {{9}}); }),
             "expected an image for the layer conv2d; received a vector of 9");
  expect_has(error_of([] {
               through(Lstm{}, {{3, 8, 8}});
             }),
             "expected a sequence for the layer lstm; received an image of 3 x 8 x 8");
  expect_has(error_of([] { through(Attention{4}, {{5, 6}}); }), "multiple of 4 heads");
  expect_has(error_of([] { through(Conv2d{1, 5, 1, 0}, {{1, 4, 9}}); }), "at least 5 x 5 pixels");
  expect_has(error_of([] { through(Embedding{}, {{9}}); }), "tokens of a bounded length");
  const NetworkSpec late{{{3, 8, 8}}, {Flatten{}, Activation{}, Conv2d{}}};
  expect_has(error_of([&] { output(late); }), "conv2d (2)");
  const NetworkSpec uneven{{{4}}, {Residual{{Linear{9}}, {}}}};
  expect_has(error_of([&] { output(uneven); }),
             "a body and a shortcut of one shape (a vector of 9 and a vector of 4)");
}

TEST(NetworkSpec, LinesSayWhatComesOut) {
  const std::vector<std::string> lines = lines_of(network_for({}, {{1, 28, 28}}));
  EXPECT_EQ(lines.front(),
            "conv2d bias false kernel 3 out 32 padding 1 stride 1 -> an image of 32 x 28 x 28");
  EXPECT_EQ(lines.back(), "activation function relu -> a vector of 128");
}

TEST(NetworkSpec, WithoutLayersIsTheIdentity) {
  const NetworkSpec spec = network_from_json(vector_of(3, json::array()));
  EXPECT_TRUE(spec.layers.empty());
  EXPECT_EQ(output(spec), (Shape{{3}}));
}

TEST(NetworkSpec, RefusesHostileJson) {
  EXPECT_NO_THROW(network_from_json(vector_of(3, {linear(4), linear(2)})));
  const json unknown = {{"kind", "conv9d"}}, text = {{"kind", "linear"}, {"out", "3"}},
             odd = {{"kind", "linear"}, {"in", 3}}, empty = residual(json::array()),
             extra = {{"kind", "residual"}, {"body", {linear(3)}}, {"out", 3}},
             huge = {{"kind", "linear"}, {"out", UINT64_MAX}},
             wide = {{"kind", "linear"}, {"out", int64_t{1} << 40}},
             endless = {{"kind", "periodic"}, {"frequencies", int64_t{1} << 30}},
             alone = {{"kind", "periodic"}, {"out", 1}}, back = {{"kind", "scale"}, {"rate", -1}};
  for (const json& bad : {unknown, text, odd, empty, extra, huge, wide, endless, alone, back, linear(0),
                          linear(-1), json(7), json::object()})
    EXPECT_THROW(network_from_json(vector_of(3, {bad})), std::invalid_argument) << bad;
  for (const json& bad :
       {json::object(), json::array(), json(3), json{{"layers", json::array()}}, vector_of(0, json::array()),
        vector_of(-1, json::array()), json{{"input", {{"sizes", {1, 2, 3, 4}}}}, {"layers", json::array()}}})
    EXPECT_THROW(network_from_json(bad), std::invalid_argument) << bad;
  const json grown = {{"kind", "periodic"}, {"out", 1024}}, scale = {{"kind", "scale"}};
  EXPECT_THROW(network_from_json(vector_of(1 << 20, {grown})), std::invalid_argument);
  for (const json& on_a_sequence : {grown, scale})
    EXPECT_THROW(network_from_json({{"input", {{"sizes", {5, 3}}}}, {"layers", {on_a_sequence}}}),
                 std::invalid_argument);
  json nested = json::array({linear(2)});
  for (int depth = 0; depth < 1000; ++depth) nested = json::array({residual(std::move(nested))});
  EXPECT_THROW(network_from_json(vector_of(2, nested)), std::invalid_argument);
  json deep = json::array();
  for (int depth = 0; depth < 200000; ++depth) {
    json outer = json::array();
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_THROW(network_from_json(vector_of(2, std::move(deep))), std::invalid_argument);
}

TEST(NetworkSpec, RefusesMoreLayersThanAnySaneNetworkHas) {
  const json silu = {{"kind", "activation"}};
  const auto refuses = [](const json& list) {
    return error_of([&] { network_from_json(vector_of(4, list)); }).find("at most 4096 layers") !=
           std::string::npos;
  };
  EXPECT_FALSE(refuses(json(4096, silu)));
  EXPECT_TRUE(refuses(json(4097, silu)));
  EXPECT_TRUE(refuses(json(3, residual(json(2000, silu)))));
}

}  // namespace
}  // namespace slimbayes
