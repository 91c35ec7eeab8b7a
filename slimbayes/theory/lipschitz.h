#pragma once

#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"
#include "slimbayes/nn/binding.h"

namespace slimbayes {

/// A Lipschitz constant with respect to Euclidean norms (of all numbers of a row, also of its steps or
/// pixels), or the reason why none is known.
struct LipschitzConstant {
  double value = 1;          // an upper bound of the constant; it need not be the least
  std::string unknown = {};  // why there is no bound, such as "network.1 (layer_norm)"; empty: there is one
};

/// How a change of one matrix of a network reaches its outputs. If the matrix changes by D, the outputs
/// change by at most `downstream` * `inputs` * |D|_2 * |x|_2, where x is the input of the layer.
struct MatrixReach {
  std::string site;              // MapSite::name
  double inputs = 1;             // multiplier of the weight; for a convolution times ceil(kernel / stride)
  LipschitzConstant downstream;  // of all layers between this matrix and the outputs
};

/// Returns the Lipschitz constant of an activation: 1 for relu, tanh and smooth-clip, 1.09984 for
/// silu, 1.129 for gelu, 1.0885 for mish. Rounded up. Throws std::invalid_argument for an unknown one.
double activation_constant(const std::string& function);

/// Returns the reach of every matrix of the network, in the order of `layout`. The constants are products
/// over the layers of a chain. That of a residual is the sum of its two branches. A Linear layer has the
/// spectral norm of its matrix; a convolution ceil(kernel / stride) times that of its matrix, because a pixel
/// lies in at most the square of that many patches; a batch norm or a scale its largest factor; dropout,
/// flatten and pooling at most 1. There is no useful bound for a layer norm (up to 1 / sqrt(epsilon) near
/// constant inputs), attention and an lstm, and so none for the layers before them. `binding` must hold
/// float64 weights.
std::vector<MatrixReach> matrix_reaches(const NetworkSpec& spec, const NetworkLayout& layout,
                                        const Binding& binding);

}  // namespace slimbayes
