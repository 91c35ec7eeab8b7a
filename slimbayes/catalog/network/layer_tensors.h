#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// The distribution of the initial values of a tensor's elements.
struct StartRule {
  enum class Kind { uniform, normal, constant, forget_gate };
  Kind kind;
  /// uniform: in [-value, value]; normal: N(0, value^2); constant: every element; forget_gate: the elements
  /// of an LSTM's forget gate, which are the second quarter of its bias, while the others are 0
  double value;

  double variance() const;  // variance of one initial value; 0 for constant and forget_gate
};

/// The name, the sizes and the initial values of one tensor of a network.
struct TensorShape {
  std::string name;            // such as "network.0.weight"
  std::string layer;           // such as "network.0"
  std::vector<int64_t> sizes;  // size of each dimension
  StartRule start;             // distribution of its initial values
  double rate = 1;             // factor of the learning rate
  bool buffer = false;         // true: a running average, which is not trained
};

/// What a layer does with its weight matrix.
enum class MapUse {
  apply,  // multiplies inputs: Linear, Attention
  rows,   // looks up rows by token: Embedding
  dense   // needs the whole matrix at once: Conv2d, Lstm
};

/// A place in a network where a weight matrix acts. Methods that make weights random (bbb, for example) work
/// with these places.
struct MapSite {
  std::string name;   // name of the matrix: that of its tensor, or "LAYER.q", ".k", ".v" in attention
  std::string layer;  // such as "network.0"
  int64_t out;        // rows of the matrix; for an embedding, the size of the vocabulary
  int64_t in;         // columns of the matrix; for a convolution, channels * kernel^2
  MapUse use;
  std::string bias;        // name of the bias tensor; empty: no bias
  std::string tensor;      // name of the tensor that holds the matrix if weights are not random, ...
  int64_t first = 0;       // ... and the row at which the matrix begins in it
  std::string label = {};  // what a person calls the layer, such as "layer2.1.conv2" (layer_labels.h)
};

/// Returns every tensor of a network, including buffers, in the order of visit_layers(). Their names begin
/// with `prefix` and the position of the layer: "network.0.weight" for the prefix "network". Draws no random
/// numbers. Throws std::invalid_argument if a layer does not fit the output of the layer before it.
std::vector<TensorShape> shapes_of(const NetworkSpec& spec, const std::string& prefix);

/// Returns the places where weight matrices act, in the order of shapes_of(): one for each Linear, Conv2d and
/// Embedding, two for each Lstm (inputs and hidden state), four for each Attention (queries, keys, values,
/// output). The scales and shifts of norms are vectors and not included; nor are the positions of an
/// embedding, which are only added.
std::vector<MapSite> map_sites(const NetworkSpec& spec, const std::string& prefix);

}  // namespace slimbayes
