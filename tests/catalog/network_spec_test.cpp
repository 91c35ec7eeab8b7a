#include "slimbayes/catalog/network_spec.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace slimbayes {
namespace {

using nlohmann::json;

json linear(int64_t in, int64_t out) { return {{"kind", "linear"}, {"in", in}, {"out", out}}; }
json residual(int64_t width, json body) {
  return {{"kind", "residual"}, {"in", width}, {"out", width}, {"body", std::move(body)}};
}

TEST(NetworkSpec, TabularResnetIsAppendixB) {
  const NetworkSpec spec = tabular_resnet(5, 16, 2);
  ASSERT_EQ(spec.size(), 5u);
  EXPECT_EQ(spec[0], (LayerSpec{"linear", 5, 16}));
  ASSERT_EQ(spec[1].body.size(), 4u);
  EXPECT_EQ(spec[1].body[0].kind, "layer_norm");
  EXPECT_EQ(spec[1].body[3], (LayerSpec{"linear", 16, 16}));
  EXPECT_EQ(spec[1], spec[2]);
  EXPECT_EQ(spec[3].kind, "layer_norm");
  EXPECT_EQ(spec[4].kind, "silu");
  EXPECT_EQ(tabular_resnet(5, 16, 0).size(), 3u);
}

TEST(NetworkSpec, JsonRoundTrip) {
  const NetworkSpec spec = tabular_resnet(3, 8, 2);
  EXPECT_EQ(network_from_json(json::parse(to_json(spec).dump())), spec);
}

TEST(NetworkSpec, RefusesWhatDoesNotChain) {
  EXPECT_NO_THROW(network_from_json(json::array({linear(3, 4), linear(4, 2)})));
  EXPECT_THROW(network_from_json(json::array({linear(3, 4), linear(5, 2)})), std::invalid_argument);
  EXPECT_NO_THROW(network_from_json(json::array({residual(4, json::array({linear(4, 9), linear(9, 4)}))})));
  EXPECT_THROW(network_from_json(json::array({residual(4, json::array({linear(4, 9)}))})),
               std::invalid_argument);
}

TEST(NetworkSpec, RefusesHostileJson) {
  const json silu_that_grows = {{"kind", "silu"}, {"in", 3}, {"out", 4}};
  const json unknown = {{"kind", "conv"}, {"in", 3}, {"out", 3}};
  const json text = {{"kind", "linear"}, {"in", "3"}, {"out", 3}};
  const json bodied = {{"kind", "linear"}, {"in", 3}, {"out", 3}, {"body", json::array()}};
  for (const json& bad : {silu_that_grows, unknown, text, bodied, linear(0, 3), linear(3, -1),
                          linear(3, int64_t{1} << 40), json(7), json::object()}) {
    EXPECT_THROW(network_from_json(json::array({bad})), std::invalid_argument) << bad;
  }
  EXPECT_THROW(network_from_json(json::object()), std::invalid_argument);
  EXPECT_THROW(network_from_json(json::array({residual(4, json::array())})), std::invalid_argument);
  const json huge = {{"kind", "linear"}, {"in", UINT64_MAX}, {"out", 3}};
  EXPECT_THROW(network_from_json(json::array({huge})), std::invalid_argument);
  json nested = json::array({linear(2, 2)});
  for (int depth = 0; depth < 1000; ++depth) nested = json::array({residual(2, std::move(nested))});
  EXPECT_THROW(network_from_json(nested), std::invalid_argument);
  json deep = json::array();
  for (int depth = 0; depth < 200000; ++depth) {
    json outer = json::array();
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_THROW(network_from_json(deep), std::invalid_argument);
}

TEST(NetworkSpec, WithoutLayersIsTheIdentity) {
  EXPECT_TRUE(network_from_json(json::array()).empty());
}

TEST(NetworkSpec, MlpIsLinearAndActivationInTurn) {
  const NetworkSpec spec = mlp(5, 16, 2, "tanh");
  ASSERT_EQ(spec.size(), 4u);
  EXPECT_EQ(spec[0], (LayerSpec{"linear", 5, 16}));
  EXPECT_EQ(spec[2], (LayerSpec{"linear", 16, 16}));
  EXPECT_EQ(spec[3].kind, "tanh");
  EXPECT_EQ(network_from_json(to_json(spec)), spec);
  EXPECT_THROW(mlp(5, 16, 0, "tanh"), std::invalid_argument);
}

TEST(NetworkSpec, RefusesMoreLayersThanAnySaneNetworkHas) {
  const json silu = {{"kind", "silu"}, {"in", 4}, {"out", 4}};
  const auto refuses = [](const json& list) {
    try {
      network_from_json(list);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what()).find("at most 4096 layers") != std::string::npos;
    }
    return false;
  };
  EXPECT_FALSE(refuses(json(4096, silu)));
  EXPECT_TRUE(refuses(json(4097, silu)));
  EXPECT_TRUE(refuses(json(3, residual(4, json(2000, silu)))));
}

}  // namespace
}  // namespace slimbayes
