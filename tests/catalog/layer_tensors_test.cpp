#include "slimbayes/catalog/network/layer_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "slimbayes/catalog/network/networks.h"
#include "slimbayes/catalog/network/visit_layers.h"

namespace slimbayes {
namespace {

int64_t numbers_in(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::vector<NetworkSpec> all_networks() {
  const auto named = [](const char* name, const Shape& shape, int64_t tokens = 0) {
    NetworkOptions options;
    options.network = name;
    options.hidden = 8;
    options.heads = 2;
    options.dropout = 0.1;
    return network_for(options, shape, tokens, options.network == "fcn");
  };
  return {named("tabular_resnet", {{3}}), named("mlp", {{3}}),
          named("realmlp", {{3}}),        named("lstm", {{5, 3}}),
          named("transformer", {{5, 3}}), named("transformer", {{6}, true}, 11),
          named("convnet", {{1, 8, 8}}),  named("resnet18", {{3, 16, 16}}),
          named("fcn", {{3, 8, 12}})};
}

TEST(MapSites, HoldEveryNumberOfTheirTensors) {
  for (const NetworkSpec& spec : all_networks()) {
    const std::vector<TensorShape> tensors = shapes_of(spec, "net");
    const std::vector<MapSite> sites = map_sites(spec, "net");
    for (const MapSite& site : sites) {
      const auto tensor = std::ranges::find(tensors, site.tensor, &TensorShape::name);
      ASSERT_NE(tensor, tensors.end()) << site.name;
      int64_t held = 0;
      for (const MapSite& other : sites)
        if (other.tensor == site.tensor) held += other.out * other.in;
      EXPECT_EQ(held, numbers_in(tensor->sizes)) << site.name;
      EXPECT_TRUE(site.bias.empty() || std::ranges::count(tensors, site.bias, &TensorShape::name) == 1);
    }
    // What is no matrix is a vector, the positions of an embedding or a column's part of a periodic one.
    for (const TensorShape& tensor : tensors) {
      if (std::ranges::count(sites, tensor.name, &MapSite::tensor) > 0) continue;
      const bool of_columns = tensor.name.starts_with("net.1.") && kind_of(spec.layers[1]) == "periodic";
      EXPECT_TRUE(tensor.sizes.size() == 1 || tensor.name.ends_with(".positions") || of_columns)
          << tensor.name;
    }
  }
}

TEST(MapSites, AreTwoOfAnLstmAndFourOfAttention) {
  const NetworkSpec lstm{{{5, 3}}, {Lstm{4}}}, attention{{{5, 4}}, {Attention{2}}};
  const std::vector<MapSite> two = map_sites(lstm, "n"), four = map_sites(attention, "n");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].name, "n.0.weight_ih");
  EXPECT_EQ(two[0].out, 16);
  EXPECT_EQ(two[1].in, 4);
  ASSERT_EQ(four.size(), 4u);
  EXPECT_EQ(four[2].name, "n.0.v");
  EXPECT_EQ(four[2].tensor, "n.0.in_weight");
  EXPECT_EQ(four[2].first, 8);
}

TEST(VisitLayers, GoesIntoBodiesAndShortcuts) {
  const NetworkSpec spec{{{4}}, {Linear{4}, Residual{{LayerNorm{}, Linear{3}}, {Dropout{0.5}, Linear{3}}}}};
  std::vector<std::string> names;
  visit_layers(spec, "n",
               [&](const LayerSpec&, const Shape&, const std::string& name) { names.push_back(name); });
  EXPECT_EQ(names,
            (std::vector<std::string>{"n.0", "n.1", "n.1.0", "n.1.1", "n.1.shortcut.0", "n.1.shortcut.1"}));
  EXPECT_TRUE(has_layer<Dropout>(spec));
  EXPECT_FALSE(has_layer<BatchNorm>(spec));
  NetworkSpec changed = spec;
  change_layers(changed.layers, [](LayerSpec& layer) {
    if (auto* dropout = std::get_if<Dropout>(&layer)) dropout->rate = 0;
  });
  EXPECT_EQ(std::get<Dropout>(std::get<Residual>(changed.layers[1]).shortcut[0]).rate, 0);
}

}  // namespace
}  // namespace slimbayes
