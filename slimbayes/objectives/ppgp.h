#pragma once

#include "slimbayes/objectives/variational.h"
#include "slimbayes/objectives/variational_loss.h"

namespace slimbayes {

/// PPGP (N-6), a pure function: the data term is -log N(y; mean, ||L^T phi||^2 + correction + noise_var).
/// features [b, r]; correction = k~(x, x) - ||phi||^2 [b] of an inducing-point expansion (N-4); y [b], offset
/// and noise_var scalars; rows is n. Throws std::invalid_argument without a correction.
VariationalLoss ppgp(const at::Tensor& features, const at::Tensor& correction, const at::Tensor& y,
                     const VariationalPosterior& posterior, const at::Tensor& offset,
                     const at::Tensor& noise_var, int64_t rows, double beta);

}  // namespace slimbayes
