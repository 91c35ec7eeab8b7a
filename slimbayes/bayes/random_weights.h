#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slimbayes/bayes/structure.h"
#include "slimbayes/bayes/weight_plan.h"
#include "slimbayes/nn/network.h"

namespace slimbayes {

/// Weights the KL of the rows of an embedding in one training step.
struct KlContext {
  /// [u] in the type of the weights: a factor for the KL of each drawn token's row, or of each row of the
  /// embedding if all rows were drawn. Use it to give all weights the same KL over an epoch of m batches. The
  /// KL of a weight outside the embedding is counted once per batch, m times in all. A row that occurs in
  /// only c batches is counted m times, too, if its factor is m / c in each of them. Undefined: the KL of
  /// every row of the embedding is counted in every batch.
  at::Tensor row_weights = {};
};

/// One draw of all random weights, with the numbers that kl() needs.
struct WeightDraw {
  Binding binding;
  std::vector<SiteDraw> sites;  // one per random site, in the order of the network's tensors
};

/// The posterior distribution over the weights of a network, bound to its parameter tensors. The object
/// itself is immutable, but training may change the values of the tensors.
class WeightPosterior {
 public:
  /// Returns one draw of the weights, with an autograd graph to the parameters. The same stream gives the
  /// same weights.
  WeightDraw draw(const Stream& stream, const DrawContext& context = {}) const;

  /// Returns the scalar KL(posterior || prior), summed over all sites. `draw` is the draw used in this step.
  at::Tensor kl(const WeightDraw& draw, const KlContext& context = {}) const;

  /// Returns the names of the random sites, in the order of WeightDraw::sites.
  std::vector<std::string> names() const;

  /// Returns the mean of every weight. A matrix is E[W], for example E[A] E[B]^T.
  Binding mean() const;

  /// Returns the largest Structure::jitter() of all sites.
  double jitter() const;

  /// Returns the posterior of all random numbers, site by site.
  std::vector<FactorPosterior> factors() const;

  /// Sets the rows of these tokens [u] int64 in every random embedding to the prior
  /// (Structure::rows_to_prior). It changes the values of the parameter tensors.
  void rows_to_prior(const at::Tensor& tokens) const;

  /// Returns an upper bound of the numbers that a draw of all random weights has: as many as the parameters,
  /// and the whole matrix where the layer needs it (MapUse::dense). Use it to bound the memory of draws.
  int64_t numbers_at_most() const;

  /// Returns whether an embedding is random.
  bool has_tokens() const;

 private:
  friend class RandomWeights;
  struct Site {
    std::string name;
    std::shared_ptr<const Structure> structure;
    std::vector<at::Tensor> parameters;
    bool is_map, dense, tokens;  // dense: the layer needs the whole matrix (MapUse::dense)
    bool local;                  // whether it is the matrix of a Linear or Conv2d
    size_t place;                // index in Binding::maps or Binding::tensors
    std::optional<size_t> bias;  // index in Binding::tensors of the bias that the structure makes
  };
  int64_t numbers_ = 0;
  Binding fixed_;  // deterministic tensors and maps
  std::vector<Site> sites_;
};

/// Which weights of a network are random and how: the network's layout and a plan. It holds no tensors;
/// bound() adds them.
class RandomWeights {
 public:
  /// Throws std::invalid_argument if the plan names a site that the network lacks, an unknown structure or
  /// law, a rank that is impossible at its site, or only some of the matrices that share a tensor (the
  /// queries, keys and values of an attention layer).
  RandomWeights(NetworkLayout layout, WeightPlan plan);

  const WeightPlan& plan() const { return plan_; }

  /// Returns all parameters and buffers with their initial values. Deterministic tensors and the locations of
  /// random weights are in the group "network", the scales of random weights in "spread", buffers in
  /// kBuffers. With `trained`, the weights of a trained network by name, all values start from these instead
  /// of random ones (SitePlan::start says how a structure starts from them).
  std::vector<ParameterSpec> parameters(const Stream& stream, const Binding::Lookup& trained = {}) const;

  /// Binds the distribution to the tensors that `lookup` returns for the names of parameters(). Throws
  /// std::invalid_argument if a tensor has the wrong shape.
  WeightPosterior bound(const Binding::Lookup& lookup) const;

 private:
  struct Site {
    std::string name;
    std::shared_ptr<const Structure> structure;
    const MapSite* map;         // nullptr if the site is a vector
    const TensorShape* tensor;  // the tensor that the site replaces
    const TensorShape* bias;    // the bias that its structure makes, too, or nullptr
  };
  bool fixed(const TensorShape& tensor) const;  // whether no random site replaces the tensor

  std::shared_ptr<const NetworkLayout> layout_;
  WeightPlan plan_;
  std::vector<Site> sites_;  // in the order of the network's tensors
};

/// Returns the distinct tokens of a batch x [b, t] in ascending order, for DrawContext. Undefined if the rows
/// are not tokens.
at::Tensor tokens_of(const at::Tensor& x);

}  // namespace slimbayes
