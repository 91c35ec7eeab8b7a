#pragma once

#include <vector>

#include "slimbayes/catalog/methods.h"

namespace slimbayes {

// Each function returns the entries of the method catalogue for one family, in the order in which listings
// show them. It is defined in the facts.cpp of the family's folder, such as methods/deep_kernel/facts.cpp.

std::vector<MethodInfo> deep_kernel_methods();
std::vector<MethodInfo> dense_gp_methods();
/// Returns dnn, a network without a posterior, and the methods that add a posterior to a trained network.
std::vector<MethodInfo> last_layer_methods();
/// Returns the methods that average over several sets of weights of a network: draws from a distribution of
/// all weights, or the members of an ensemble.
std::vector<MethodInfo> weight_space_methods();

/// Returns auto.
std::vector<MethodInfo> portfolio_methods();

/// Returns the methods without a network that every other one must beat: ridge,
/// logistic, extra-trees, bag-of-words and constant.
std::vector<MethodInfo> plain_methods();

}  // namespace slimbayes
