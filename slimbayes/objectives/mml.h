#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// log p(y) of y = offset + <w, phi> + noise, w ~ N(0, I), noise ~ N(0, noise_var) (N-11), a pure function: what
/// exact training maximises. features [n, r], y [n], offset and noise_var scalars. Float64, differentiable in all of
/// them; equals log_evidence of core/gaussian_linear. Cost O(n r^2). Throws std::invalid_argument for shapes that do
/// not fit. Scalar.
at::Tensor mml(const at::Tensor& features, const at::Tensor& y, const at::Tensor& offset,
               const at::Tensor& noise_var);

}  // namespace slimbayes
