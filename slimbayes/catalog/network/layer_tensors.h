#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/network_spec.h"

namespace slimbayes {

/// The rule for a tensor's initial values.
struct StartRule {
  enum class Kind { uniform, normal, constant };
  Kind kind;
  double value;  // uniform in [-value, value]; N(0, value^2); every element is value

  double variance() const;  // of one element; 0 for a constant
};

/// One tensor of a network.
struct TensorShape {
  std::string name;            // such as "network.0.weight"
  std::string layer;           // such as "network.0"
  std::vector<int64_t> sizes;  // of the tensor
  StartRule start;             // rule for its initial values
  double rate = 1;             // multiplies the learning rate (Scales)
  bool buffer = false;         // a running average, which is not trained
};

/// The way in which a layer uses its matrix.
enum class MapUse {
  apply,  // multiplies inputs: Linear, Attention
  rows,   // looks up rows by token: Embedding
  dense   // needs the whole matrix at once: Conv2d, Lstm
};

/// A place in a network where a matrix acts.
struct MapSite {
  std::string name;   // name of its tensor; in an attention layer "LAYER.q", ".k" and ".v"
  std::string layer;  // such as "network.0"
  int64_t out;        // rows of the matrix; for an embedding, its tokens
  int64_t in;         // columns of the matrix; for a convolution, channels * kernel^2
  MapUse use;
  std::string bias;    // the name of the tensor that is added to the product; empty: none
  std::string tensor;  // the tensor that holds the matrix of a deterministic network, ...
  int64_t first = 0;   // ... from this row on
};

/// Returns every tensor of a network, including buffers, in the order of visit_layers(). The names are
/// `prefix`.0.weight and so on. Draws no random numbers. Throws std::invalid_argument if the layers do not
/// fit each other.
std::vector<TensorShape> shapes_of(const NetworkSpec& spec, const std::string& prefix);

/// Returns the places where matrices act, in the order of shapes_of(): one for each Linear, Conv2d and
/// Embedding, two for each Lstm (inputs and hidden state), four for each Attention (queries, keys, values,
/// output). The scales and shifts of norms and the positions of an embedding are vectors and not included.
std::vector<MapSite> map_sites(const NetworkSpec& spec, const std::string& prefix);

}  // namespace slimbayes
