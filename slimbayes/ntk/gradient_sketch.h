#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// Random features of the tangent kernel: q numbers f(x) for each row, with E <f(x), f(x')> = <phi_m(x),
/// phi_m(x')> over the random signs, where phi_m(x) is the gradient of the chosen output with respect to the
/// parameters before the last layer. The error of a kernel element falls as 1 / sqrt(q).
///
/// The gradient of a linear layer, a convolution or an embedding at one position is an outer product delta
/// a^T (ntk/layer_gradients.h). With random signs u_j and v_j, feature j of the layer is the sum over the
/// positions of <u_j, delta> <v_j, a> / sqrt(q) (Pham and Pagh 2013, Fast and scalable polynomial kernels via
/// explicit feature maps, with dense signs). So the gradient is never formed. Gradients of norms, and of
/// networks whose layers are not known, are hashed: each number is added with a random sign to a random
/// feature (Charikar, Chen and Farach-Colton 2002). The features of the layers are added; their signs are
/// independent.
///
/// An immutable value, cheap to copy. The same stream gives the same features whatever the batches, up to
/// rounding.
class GradientSketch {
 public:
  /// Throws std::invalid_argument unless size > 0.
  GradientSketch(GradientModel model, int64_t size, const Stream& stream);

  /// Returns the features of all rows, by one forward and one backward pass for each batch, in the type and
  /// on the device of the model. Throws as gradient_blocks(). [n, q]
  at::Tensor operator()(const GradientRows& rows) const;

  int64_t size() const { return size_; }  // q

 private:
  struct Signs;
  GradientModel model_;
  int64_t size_;
  std::shared_ptr<Signs> signs_;  // drawn at the first call, when the sizes of the layers are known
};

}  // namespace slimbayes
