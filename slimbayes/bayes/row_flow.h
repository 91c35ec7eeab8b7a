#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// What a RowFlow does with the norms of its weights.
enum class FlowForm : uint8_t {
  certified,  // the scales do not depend on the row; the map is divided by a bound of its Lipschitz constant
  paper,      // the scales depend on the row; weights are divided by their spectral norm where it is above 1
  spectral    // as `paper`, but every masked weight is divided by its spectral norm (FiD-GP equation 8)
};

/// The size of a RowFlow.
struct RowFlowSpec {
  int64_t features;     // M, the length of a row
  int64_t hidden = 16;  // units of each hidden layer of the conditioner
  int64_t layers = 1;   // hidden layers of the conditioner
  FlowForm form = FlowForm::certified;
};

/// An invertible map g of rows of M numbers, the same for every row. Element j of g(u) depends on the
/// elements up to j of u. With the conditioner t, a network of tanh layers whose masked weights W_l let
/// output j see the elements before j only:
///
///   certified        g_j(u) = (a_j u_j + t_j(u)) / L,  a_j > 0,  L = max_j a_j + prod_l ||W_l||
///   paper, spectral  g_j(u) = exp(s_j(u)) u_j + t_j(u), s and t outputs of one conditioner whose weights are
///                    divided by their spectral norms (FlowForm), and |s_j| < 1 by a tanh
///
/// The norms are the largest singular values, in the form `paper` those of the unmasked weights. tanh is
/// 1-Lipschitz, so prod_l ||W_l|| bounds the Lipschitz constant of t, and the certified g is 1-Lipschitz. The
/// others have no Lipschitz constant: the farther the rows are from 0, the farther they move them apart. At
/// the start g is the identity, but not in the form `spectral`: a weight of norm 1 is not 0. It holds no
/// tensors; every call takes the parameters in the order of shapes(). Source: the flow of FiD-GP
/// (Definition 1), with the certificate that its spectral normalisation lacks.
class RowFlow {
 public:
  /// Throws std::invalid_argument for less than one feature, hidden unit or layer.
  explicit RowFlow(RowFlowSpec spec);

  /// Returns the name and the sizes of each parameter.
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes() const;

  /// Returns the initial parameters in float64: hidden weights of the fan-in's size, the last layer 0 (in the
  /// form `spectral` as the hidden ones), a = 1.
  std::vector<at::Tensor> start(const Stream& stream) const;

  struct Image {
    at::Tensor values;   // g(u) [..., M]
    at::Tensor log_det;  // log |det J| of each row [...]
  };

  /// Returns g(u) for rows u [..., M] and the log determinants. Differentiable.
  Image operator()(const at::Tensor& u, std::span<const at::Tensor> parameters) const;

  /// Returns the rows u with g(u) = v, element after element. v [..., M]
  at::Tensor inverse(const at::Tensor& v, std::span<const at::Tensor> parameters) const;

 private:
  at::Tensor conditioned(const at::Tensor& u, std::span<const at::Tensor> weights) const;
  at::Tensor masked(const at::Tensor& weight, const at::Tensor& mask) const;

  RowFlowSpec spec_;
  std::vector<at::Tensor> masks_;  // of the weights of each layer, on the CPU
};

}  // namespace slimbayes
