#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// Returns the names of the parametrisations: "standard", "mup" and "ntk".
std::vector<std::string> parametrisations();

/// Returns the network with the Scales of every Linear and Conv2d set by the parametrisation `name`. The last
/// layer must be the Linear that computes the output. A layer stores the parameters w (weight) and b (bias)
/// and computes with W and B, which are w and b times the factors below. "rates" are the factors that
/// multiply the learning rate of w and of b:
///
/// - "standard": returns the network unchanged.
/// - "mup": the maximal update parametrisation (Yang and Hu 2020, table 1; Adam's rates from Yang et al.
///   2022, table 3). Use it if features and parameter gradients must have the same size at every width. n is
///   the width of a layer's input; for the first layer, whose input is given, it is the width of its output:
///     first layer    W = n^1/2 w,   B = n^1/2 b   rates (n / n0)^-1/2 for both
///     hidden layers  W = w,         B = n^1/2 b   rates (n / n0)^-1 for w, (n / n0)^-1/2 for b
///     output layer   W = n^-1/2 w,  B = b         rates (n / n0)^-1/2 for w, 1 for b
///   with w, b ~ N(0, 1/n) and n0 = `reference_width`, the width at which the learning rate was chosen. A
///   bias is a weight of a constant input of 1, so a bias of hidden units has the factors of the first
///   layer in every layer. A network of one layer has no hidden width: its factors and rates are 1.
/// - "ntk": the neural tangent parametrisation (Jacot et al. 2018): W = w / sqrt(fan-in), B = b,
///   w, b ~ N(0, 1); rates 1.
///
/// The width of an image is its number of channels. The window of a convolution (k^2 pixels) and the pixels
/// of a flattened image multiply the fan-in but not the width, because they stay the same as the network
/// widens. So under "mup" w, b ~ N(0, 1 / (n k^2)), which keeps the sd of the pre-activations, while the
/// factors and rates depend on n only. Batch norms keep the rate 1; their scale starts at 1, their shift at
/// 0.
///
/// Throws std::invalid_argument for an unknown name, a reference width below 1, a last layer that is not a
/// Linear, and layers whose factors are not known (residuals, layer norms, embeddings, LSTMs, attention).
/// The message names the layer and the networks that can be parametrised in this way.
NetworkSpec parametrised(NetworkSpec spec, const std::string& name, int64_t reference_width = 50);

}  // namespace slimbayes
