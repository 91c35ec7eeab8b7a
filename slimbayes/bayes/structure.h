#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "slimbayes/bayes/weight_plan.h"
#include "slimbayes/core/random.h"
#include "slimbayes/nn/linear_map.h"
#include "slimbayes/nn/parameters.h"

namespace slimbayes {

/// A place of a network whose values are random: a matrix of a layer, or another tensor (a bias, the scales
/// of a norm, the positions of tokens), which counts as a matrix of one column.
struct RandomSite {
  std::string name;
  std::vector<int64_t> sizes;  // shape of its values
  int64_t out, in;             // rows and columns of the matrix
  bool matrix = true;          // whether it is a matrix of a layer (MapSite)
  bool tokens = false;         // whether its rows belong to the tokens of an embedding
  bool bias = false;           // whether the structure makes the layer's bias [out] too (takes_bias)
  double start_var = 0;        // variance of its initial values in a deterministic network
  double rate = 1;             // multiplies the learning rate
};

/// What a draw is for.
struct DrawContext {
  /// [u] int64, ascending: the tokens of the batch. Only these rows of an embedding are drawn, which saves
  /// time and suffices for one pass over the batch. Undefined: all rows are drawn.
  at::Tensor tokens = {};
  /// Whether to draw the outputs of a Linear or Conv2d, each row's anew, in place of its weights
  /// (LocalMap), where the structure can: mean_field with the Gaussian law. The gradients vary less
  /// (Kingma, Salimans and Welling 2015). Use it in training only: a row's answer would depend on its batch.
  bool local = false;
};

/// The values of a site.
struct SiteMatrix {
  LinearMap map;
  at::Tensor bias = {};  // [out], where the structure makes it
};

/// One draw of the random values of a site.
struct SiteDraw {
  LinearMap map;
  std::vector<at::Tensor> numbers;  // the random numbers behind the map, for kl()
  std::vector<at::Tensor> scales;   // the scale of each of `numbers`; undefined where it is not random
  at::Tensor tokens;                // [u] the tokens whose rows were drawn; undefined: all
  at::Tensor bias = {};             // as in SiteMatrix
};

/// The posterior of some independent random numbers of a site, of one law and one prior.
struct FactorPosterior {
  std::string site;            // the site's name
  at::Tensor location, scale;  // of one shape, scale > 0
};

/// How the values of a site are random: which parameters are trained, how they give a random matrix, and what
/// the KL to the prior is. The argument `parameters` of draw() and kl() has the order of the function
/// parameters(). To add a structure, add a source file with its maker and a row in structure.cpp.
class Structure {
 public:
  virtual ~Structure() = default;

  /// Returns the trained parameters with their initial values. `start` holds the values with which the site's
  /// tensor would start in a deterministic network. Locations are in the group "network", scales in "spread".
  virtual std::vector<ParameterSpec> parameters(const at::Tensor& start, const Stream& stream) const = 0;

  /// Returns the name and sizes of each parameter without drawing initial values.
  virtual std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const = 0;

  /// Returns a draw with an autograd graph to the parameters. The tokens of the context are undefined unless
  /// the site is an embedding, and `local` is false unless it is the matrix of a Linear or Conv2d.
  virtual SiteDraw draw(std::span<const at::Tensor> parameters, const Stream& stream,
                        const DrawContext& context) const = 0;

  /// Returns whether a draw holds the whole matrix beside as many numbers as the parameters.
  virtual bool draws_matrix() const { return false; }

  /// Returns the scalar KL(posterior || prior) of the site. `row_weights` multiply the KL of each row of an
  /// embedding, or of each drawn row if the draw has tokens; undefined: every row of the site counts once. If
  /// the KL has no closed form, it is estimated from the numbers in `draw`; rows that were not drawn then
  /// cannot count, and an undefined `row_weights` throws std::logic_error. Differentiable.
  virtual at::Tensor kl(std::span<const at::Tensor> parameters, const SiteDraw& draw,
                        const at::Tensor& row_weights) const = 0;

  /// Returns E[W], the mean of the site's matrix. Inducing weights with a flow have no closed form of it:
  /// theirs is the mean given the image of the base's mean.
  virtual SiteMatrix mean(std::span<const at::Tensor> parameters) const = 0;

  /// Returns what the worst factorisation behind the mean added to a diagonal, relative to its mean. 0 for
  /// structures that factorise nothing.
  virtual double jitter(std::span<const at::Tensor>) const { return 0; }

  /// Returns the posterior of all random numbers of the site, one entry for each factor, without the name of
  /// the site. Use it to compute bounds of the KL; for training use kl(). Throws std::invalid_argument for
  /// inducing weights, whose numbers have no such form.
  virtual std::vector<FactorPosterior> factors(std::span<const at::Tensor> parameters) const = 0;

  /// Sets the parameters of these tokens' rows of an embedding [u] int64 so that their posterior is as near
  /// to the prior as the law allows. Use it for tokens that no training row contains: the data say nothing
  /// about them, so their rows would keep the values of the start.
  virtual void rows_to_prior(std::span<const at::Tensor> parameters, const at::Tensor& tokens) const = 0;
};

/// Returns the structure named by `plan`: "mean_field" (every element of the matrix is independent),
/// "low_rank" (W = A B^T with independent factors), "rank_one" (W = diag(1 + s) V diag(1 + r) with random s
/// and r), "rank_one_at_zero" (W = diag(s) V diag(r)) or "inducing" (W given a small random matrix U). Throws
/// std::invalid_argument for an unknown name, a rank that the structure cannot have, or a structure other
/// than mean_field at a tensor that is no matrix of a layer.
std::unique_ptr<const Structure> make_structure(const RandomSite& site, const SitePlan& plan);

/// Returns whether the structure of this plan makes the bias of a layer as a last column of its matrix. The
/// bias is then no site of its own. A bias that several matrices share (the queries, keys and values of an
/// attention layer) stays deterministic.
bool takes_bias(const SitePlan& plan);

/// Returns whether the structure of this plan keeps the tensor of the network as a trained matrix that is not
/// random, and draws only its scales.
bool trains_the_matrix(const SitePlan& plan);

}  // namespace slimbayes
