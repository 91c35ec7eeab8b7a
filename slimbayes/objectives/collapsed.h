#pragma once

#include <ATen/core/Tensor.h>

namespace slimbayes {

/// The collapsed sparse bound (N-3; Titsias 2009), a pure function: mml - sum correction / (2 noise_var), never above
/// the dense log evidence of the kernel k~ that the features approximate. features [n, r]; correction =
/// k~(x, x) - ||phi||^2 [n] (N-4), or alpha (max ||phi||^2 - ||phi||^2) for E-11; y [n]; offset and noise_var
/// scalars. Float64, differentiable in all of them. Scalar.
at::Tensor collapsed_bound(const at::Tensor& features, const at::Tensor& correction, const at::Tensor& y,
                           const at::Tensor& offset, const at::Tensor& noise_var);

}  // namespace slimbayes
