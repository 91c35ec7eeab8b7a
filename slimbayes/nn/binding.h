#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "slimbayes/catalog/network/layer_tensors.h"
#include "slimbayes/nn/linear_map.h"

namespace slimbayes {

/// The tensors of a network and its matrix sites (MapSite: the places where a matrix acts). A Binding holds
/// its values in the same order.
struct NetworkLayout {
  std::string prefix;
  std::vector<TensorShape> tensors;  // all tensors, from shapes_of()
  std::vector<MapSite> sites;        // all matrix sites, from map_sites()

  NetworkLayout(const NetworkSpec& spec, const std::string& prefix);

  /// Returns the index in `tensors` or `sites` of the entry with this name. Throws std::logic_error if there
  /// is none.
  size_t tensor(const std::string& name) const;
  size_t site(const std::string& name) const;
};

/// The values with which a network computes: trained weights, or one draw of random weights. A layer takes
/// vectors (biases, the scales of a norm) from `tensors` and matrices from `maps`.
struct Binding {
  using Lookup = std::function<at::Tensor(const std::string& name)>;

  std::vector<at::Tensor> tensors;  // in the layout's order; undefined where only a map holds the values
  std::vector<LinearMap> maps;      // in the layout's order
};

/// Returns the binding of deterministic weights. Each tensor is what `lookup` returns for its name; the map
/// of a site shares the memory of its tensor. Throws std::invalid_argument if a tensor's shape differs from
/// the layout.
Binding bound(const NetworkLayout& layout, const Binding::Lookup& lookup);

/// Returns the binding that computes with all of `draws`, S bindings of one layout, in one pass: a random
/// tensor or matrix gets a leading axis S, what all draws share stays as it is. Of the layers that hold
/// random weights only Linear, Embedding, Lstm and Attention can compute with it, and of the vectors only
/// biases may be random.
Binding stacked(const std::vector<Binding>& draws);

}  // namespace slimbayes
