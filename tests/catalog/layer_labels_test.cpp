#include "slimbayes/catalog/network/layer_labels.h"

#include <gtest/gtest.h>

#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/catalog/network/networks.h"

namespace slimbayes {
namespace {

std::vector<std::string> labels_of(const NetworkSpec& spec) {
  std::vector<std::string> labels;
  for (const MapSite& site : map_sites(spec, "network"))
    if (labels.empty() || labels.back() != site.label) labels.push_back(site.label);
  return labels;
}

NetworkSpec with_output(NetworkSpec spec) {
  spec.layers.push_back(Linear{10});
  return spec;
}

TEST(LayerLabels, AResnetHasTheNamesThatItsUsersKnow) {
  const NetworkSpec spec = with_output(network_for({.network = "resnet18", .hidden = 4}, Shape{{3, 32, 32}}));
  EXPECT_EQ(
      labels_of(spec),
      (std::vector<std::string>{
          "conv1",          "layer1.0.conv1", "layer1.0.conv2",       "layer1.1.conv1", "layer1.1.conv2",
          "layer2.0.conv1", "layer2.0.conv2", "layer2.0.downsample1", "layer2.1.conv1", "layer2.1.conv2",
          "layer3.0.conv1", "layer3.0.conv2", "layer3.0.downsample1", "layer3.1.conv1", "layer3.1.conv2",
          "layer4.0.conv1", "layer4.0.conv2", "layer4.0.downsample1", "layer4.1.conv1", "layer4.1.conv2",
          "output"}));
}

TEST(LayerLabels, EveryLayerWithMatricesOfEveryNetworkHasItsOwn) {
  const Shape table{{5}}, windows{{6, 5}}, image{{1, 8, 8}}, text{{7}, true};
  const std::pair<const char*, Shape> cases[] = {
      {"tabular_resnet", table}, {"mlp", table},        {"mlp", image},     {"lstm", windows},
      {"transformer", windows},  {"transformer", text}, {"convnet", image}, {"resnet18", image}};
  for (const auto& [network, input] : cases) {
    const NetworkSpec spec = with_output(network_for({.network = network, .hidden = 8}, input, 20));
    const std::map<std::string, std::string> labels = layer_labels(spec, "network");
    std::map<std::string, std::string> layers;
    for (const auto& [layer, label] : labels) EXPECT_TRUE(layers.emplace(label, layer).second) << label;
    EXPECT_EQ(labels.at("network." + std::to_string(spec.layers.size() - 1)), "output");
  }
  EXPECT_EQ(labels_of(with_output(network_for({.network = "lstm", .blocks = 2}, windows))),
            (std::vector<std::string>{"lstm1", "lstm2", "output"}));
  EXPECT_EQ(labels_of(with_output(network_for({.network = "transformer", .blocks = 1}, text, 20))),
            (std::vector<std::string>{"embedding1", "layer1.0.attention1", "layer1.1.linear1",
                                      "layer1.1.linear2", "output"}));
}

}  // namespace
}  // namespace slimbayes
