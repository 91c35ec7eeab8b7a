#include "slimbayes/catalog/network/parametrisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {
namespace {

using nlohmann::json;

/// Returns the message of the std::invalid_argument that `action` throws.
std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

/// Returns an mlp with its output layer.
NetworkSpec with_output(int64_t inputs, int64_t hidden, int64_t layers) {
  NetworkSpec spec = mlp(inputs, hidden, layers, "relu");
  spec.layers.push_back(Linear{1});
  return spec;
}

TEST(Parametrised, TakesTheNetworksThatAreSaidToHaveIt) {
  const std::vector<Shape> inputs = {
      {{7}}, {{24, 9}}, {{1, 28, 28}}, {{50}, true}, {{3, 8, 8}}};  // by InputKind
  for (const NetworkInfo& info : network_catalog()) {
    const InputKind kind = info.inputs.front();
    if (kind == InputKind::segmentation) continue;  // its output layer is no vector's
    NetworkSpec spec = network_for({.network = info.name}, inputs.at(static_cast<size_t>(kind)), 100);
    spec.layers.push_back(Linear{1});
    EXPECT_EQ(refusal_of([&] { parametrised(spec, "mup"); }) == "no error", info.parametrised) << info.name;
  }
  EXPECT_EQ(parametrised_networks(), "convnet and mlp");
}

void expect_scales(const LayerSpec& layer, const Scales& expected) {
  const Scales& scales =
      std::holds_alternative<Linear>(layer) ? std::get<Linear>(layer).scales : std::get<Conv2d>(layer).scales;
  EXPECT_DOUBLE_EQ(scales.weight, expected.weight);
  EXPECT_DOUBLE_EQ(scales.bias, expected.bias);
  EXPECT_DOUBLE_EQ(scales.weight_rate, expected.weight_rate);
  EXPECT_DOUBLE_EQ(scales.bias_rate, expected.bias_rate);
  EXPECT_DOUBLE_EQ(scales.start, expected.start);
}

// n = 200, n0 = 50: (n / n0)^-1/2 = 1/2, (n / n0)^-1 = 1/4.
TEST(Parametrised, MupOfAnMlpIsTheAbcForm) {
  const NetworkSpec spec = parametrised(with_output(7, 200, 3), "mup", 50);
  const double root = std::sqrt(200.0), start = 1 / root;
  expect_scales(spec.layers[0], {root, root, 0.5, 0.5, start});
  expect_scales(spec.layers[2], {1, root, 0.25, 0.5, start});
  expect_scales(spec.layers[4], {1, root, 0.25, 0.5, start});
  expect_scales(spec.layers[6], {1 / root, 1, 0.5, 1, start});
}

// The width is the number of channels; the window (3 x 3, then the 4 x 4 flattened pixels) is in the fan-in.
TEST(Parametrised, MupOfConvolutionsCountsChannels) {
  const NetworkSpec spec =
      parametrised({{{3, 8, 8}},
                    {Conv2d{100}, BatchNorm{}, Activation{"relu"}, Conv2d{200}, Activation{"relu"},
                     Pool2d{"max", 2}, Flatten{}, Linear{100}, Activation{"relu"}, Linear{10}}},
                   "mup", 50);
  expect_scales(spec.layers[0], {10, 10, std::sqrt(0.5), std::sqrt(0.5), 1 / std::sqrt(900.0)});
  expect_scales(spec.layers[3], {1, 10, 0.5, std::sqrt(0.5), 1 / std::sqrt(900.0)});
  expect_scales(spec.layers[7], {1, std::sqrt(200.0), 0.25, 0.5, 1 / std::sqrt(3200.0)});
  expect_scales(spec.layers[9], {0.1, 1, std::sqrt(0.5), 1, 0.1});
}

TEST(Parametrised, ALinearModelHasNoWidth) {
  expect_scales(parametrised({{{16}}, {Linear{1}}}, "mup", 50).layers[0], {1, 1, 1, 1, 0.25});
}

TEST(Parametrised, NtkDividesByTheFanIn) {
  const NetworkSpec spec = parametrised(with_output(4, 100, 2), "ntk", 50);
  expect_scales(spec.layers[0], {0.5, 1, 1, 1, 1});
  expect_scales(spec.layers[2], {0.1, 1, 1, 1, 1});
  expect_scales(spec.layers[4], {0.1, 1, 1, 1, 1});
}

TEST(Parametrised, StandardIsTheNetworkItself) {
  const NetworkSpec resnet = tabular_resnet(3, 8, 1);
  EXPECT_EQ(to_json(parametrised(resnet, "standard", 50)), to_json(resnet));
}

TEST(Parametrised, RefusalsNameTheLayerAndTheNetworks) {
  NetworkSpec resnet = tabular_resnet(3, 8, 1);
  resnet.layers.push_back(Linear{1});
  const std::string message = refusal_of([&] { parametrised(resnet, "mup", 50); });
  EXPECT_NE(message.find("received the layer residual (1)"), std::string::npos) << message;
  EXPECT_NE(message.find("the networks convnet and mlp can be 'mup'"), std::string::npos) << message;
  EXPECT_NE(refusal_of([] { parametrised(with_output(3, 8, 1), "mupp", 50); }).find("did you mean 'mup'?"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parametrised(with_output(3, 8, 1), "mup", 0); }).find("at least 1"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parametrised(mlp(3, 8, 1, "relu"), "ntk", 50); }).find("received activation"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { parametrised({{{3}}}, "ntk", 50); }).find("received no layer"),
            std::string::npos);
}

TEST(Parametrised, TheNetworksThatItNamesCanBe) {
  for (const auto& [name, shape] :
       {std::pair<std::string, Shape>{"mlp", {{5}}}, {"convnet", {{1, 28, 28}}}}) {
    NetworkSpec spec = network_for({.network = name}, shape);
    spec.layers.push_back(Linear{3});
    for (const std::string& each : parametrisations()) EXPECT_NO_THROW(parametrised(spec, each, 50)) << name;
  }
}

TEST(NetworkSpec, ScalesAreOptionsOfTheirLayer) {
  const NetworkSpec spec = parametrised(with_output(7, 200, 1), "mup", 50);
  const json file = to_json(spec);
  EXPECT_EQ(file["layers"][0]["weight_rate"], 0.5);
  EXPECT_FALSE(file["layers"][2].contains("bias_scale"));  // 1
  EXPECT_EQ(to_json(network_from_json(json::parse(file.dump()))), file);
  expect_scales(network_from_json(file).layers[0], std::get<Linear>(spec.layers[0]).scales);
  EXPECT_EQ(lines_of({{{3}}, {Linear{4, true, {.weight = 2, .start = 0.5}}}}).front(),
            "linear bias true out 4 start 0.5 weight_scale 2.0 -> a vector of 4");
  EXPECT_EQ(lines_of({{{3}}, {Linear{4}}}).front(), "linear bias true out 4 -> a vector of 4");
  // A file from before the scales existed.
  const json old = {{"input", {{"sizes", {3}}}}, {"layers", {{{"kind", "linear"}, {"out", 4}}}}};
  expect_scales(network_from_json(old).layers[0], {});
}

TEST(NetworkSpec, RefusesScalesOutOfRange) {
  const auto read = [](const char* name, const json& value) {
    for (const char* kind : {"linear", "conv2d"}) {
      const json layer = {{"kind", kind}, {"out", 4}, {name, value}};
      const json sizes = std::string(kind) == "linear" ? json{3} : json{3, 8, 8};
      network_from_json({{"input", {{"sizes", sizes}}}, {"layers", {layer}}});
    }
  };
  for (const char* name : {"weight_scale", "bias_scale"}) {
    EXPECT_NO_THROW(read(name, 64.5));
    for (const json& bad : {json(0), json(-1.0), json(1e10), json(std::nan("")), json("1"), json(INFINITY)})
      EXPECT_THROW(read(name, bad), std::invalid_argument) << name << bad;
  }
  for (const char* name : {"weight_rate", "bias_rate", "start"}) {
    EXPECT_NO_THROW(read(name, 0));
    for (const json& bad : {json(-1e-9), json(1e10), json(std::nan(""))})
      EXPECT_THROW(read(name, bad), std::invalid_argument) << name << bad;
  }
}

}  // namespace
}  // namespace slimbayes
