#pragma once

#include <map>
#include <string>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// Returns a map from the name of each layer with matrices in the network (such as "network.6.3") to a
/// readable label. `prefix` is the first part of these names ("network"). Layers outside residuals are conv1,
/// conv2, linear1, lstm1, embedding1, ...; one at the end of the network is "output". Residuals are counted
/// as in torchvision's ResNet: the first one, and every one whose shortcut has layers, begins a stage. So
/// layer2.1.conv2 is the second convolution of the second residual of the second stage, and
/// layer2.0.downsample1 the first layer with a matrix of that stage's shortcut.
std::map<std::string, std::string> layer_labels(const NetworkSpec& spec, const std::string& prefix);

}  // namespace slimbayes
