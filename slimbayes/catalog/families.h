#pragma once

#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

// The methods of each family, in the order of listings. Each function lies in the methods.cpp of its folder.

std::vector<MethodInfo> deep_kernel_methods();
std::vector<MethodInfo> dense_gp_methods();
/// Returns the plain network (dnn) and the posteriors on the features of a trained network.
std::vector<MethodInfo> last_layer_methods();
/// Returns the methods with random weights in all layers, and ensembles.
std::vector<MethodInfo> weight_space_methods();

}  // namespace slimbayes
