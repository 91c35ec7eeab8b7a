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

/// A place of a network whose values are random: a matrix, or a vector as a matrix of one column.
struct RandomSite {
  std::string name;
  std::vector<int64_t> sizes;  // of its tensor
  int64_t out, in;             // rows and columns of the matrix
  bool tokens = false;         // its rows are the tokens of an embedding
  double start_var = 0;        // variance of the network's own initial values
  double rate = 1;             // multiplies the learning rate
};

/// A draw of one site.
struct SiteDraw {
  LinearMap map;
  std::vector<at::Tensor> numbers;  // the random numbers that made it, as kl() needs them
  at::Tensor tokens;                // [u], those whose rows were drawn; undefined: all
};

/// How the parameters of a site make random maps. The functions take the site's parameters in the order of
/// parameters(). To add a structure, add a source file that makes it and a row in structure.cpp.
class Structure {
 public:
  virtual ~Structure() = default;

  /// Returns the trained parameters with their initial values. `start` holds initial values of the site's
  /// tensor as a deterministic network has them. Locations are in the group "network", scales in "spread".
  virtual std::vector<ParameterSpec> parameters(const at::Tensor& start, const Stream& stream) const = 0;

  /// Returns the name and sizes of each parameter, without random numbers; ParameterSpec::start is undefined.
  virtual std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const = 0;

  /// Returns a draw with a graph to the parameters. `tokens` [u] int64, ascending: the rows to draw of an
  /// embedding; undefined: all rows.
  virtual SiteDraw draw(std::span<const at::Tensor> parameters, const Stream& stream,
                        const at::Tensor& tokens) const = 0;

  /// Returns KL(posterior || prior) of the site. `row_weights` multiply the KL of each row of an embedding
  /// (of each drawn row, if the draw has tokens); undefined: every row of the site counts once. Where the KL
  /// has no closed form, it is estimated from the numbers of `draw`. Differentiable. Scalar.
  virtual at::Tensor kl(std::span<const at::Tensor> parameters, const SiteDraw& draw,
                        const at::Tensor& row_weights) const = 0;
};

/// Returns the structure that `plan` names: "mean_field" (every number of the matrix is independent) or
/// "low_rank" (W = A B^T with independent factors). Throws std::invalid_argument for an unknown name, for a
/// rank that the structure cannot have, and for a structure of matrices at a vector.
std::unique_ptr<const Structure> make_structure(const RandomSite& site, const SitePlan& plan);

}  // namespace slimbayes
