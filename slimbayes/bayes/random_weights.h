#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slimbayes/bayes/structure.h"
#include "slimbayes/bayes/weight_plan.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {

/// What a draw may leave out.
struct DrawContext {
  /// [u] int64, ascending: the tokens of the batch. Only these rows of an embedding are drawn, which is
  /// enough for one pass over the batch. Undefined: all rows.
  at::Tensor tokens = {};
};

/// How the KL of an embedding is counted.
struct KlContext {
  /// Of each row of an embedding, or of each token of the draw: [u], in the type of the weights. Give a row
  /// that is in c of the m batches of an epoch the weight m / c in each, and an epoch counts it once.
  /// Undefined: every row counts in every step.
  at::Tensor row_weights = {};
};

/// One draw of all random weights, and what the KL needs of it.
struct WeightDraw {
  Binding binding;
  std::vector<SiteDraw> sites;  // in the order of the plan
};

/// A distribution over the weights of a network, bound to its parameter tensors. Immutable; the tensors may
/// change, as in training.
class WeightPosterior {
 public:
  /// Returns draw number `stream` of the weights, with a graph to the parameters. The same stream gives the
  /// same network.
  WeightDraw draw(const Stream& stream, const DrawContext& context = {}) const;

  /// Returns KL(posterior || prior) summed over all sites; `draw` is the one that the step used. Scalar.
  at::Tensor kl(const WeightDraw& draw, const KlContext& context = {}) const;

 private:
  friend class RandomWeights;
  struct Site {
    std::shared_ptr<const Structure> structure;
    std::vector<at::Tensor> parameters;
    bool is_map, dense, tokens;  // dense: the layer needs the matrix as a whole (MapUse::dense)
    size_t place;                // in Binding::maps or Binding::tensors
  };
  Binding fixed_;  // deterministic tensors and maps
  std::vector<Site> sites_;
};

/// The random weights of a network as data: its layout and a plan.
class RandomWeights {
 public:
  /// Throws std::invalid_argument if the plan names a site that the network lacks, an unknown structure or
  /// law, or a rank that a site cannot have.
  RandomWeights(NetworkLayout layout, WeightPlan plan);

  const WeightPlan& plan() const { return plan_; }

  /// Returns the parameters and buffers with their initial values: deterministic tensors and locations in the
  /// group "network", scales in "spread", buffers in kBuffers.
  std::vector<ParameterSpec> parameters(const Stream& stream) const;

  /// Binds the distribution to tensors. Throws std::invalid_argument if one has another shape.
  WeightPosterior bound(const Binding::Lookup& lookup) const;

 private:
  struct Site {
    std::string name;
    std::shared_ptr<const Structure> structure;
    const MapSite* map;         // nullptr: a vector
    const TensorShape* tensor;  // that holds its values in a deterministic network
  };
  bool fixed(const TensorShape& tensor) const;  // whether no site takes its place

  std::shared_ptr<const NetworkLayout> layout_;
  WeightPlan plan_;
  std::vector<Site> sites_;  // in the order of the network's tensors
};

/// Returns the tokens of a batch, ascending and each once, for DrawContext; undefined unless the rows are
/// tokens. x [b, t]
at::Tensor tokens_of(const at::Tensor& x);

}  // namespace slimbayes
