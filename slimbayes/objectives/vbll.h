#pragma once

#include "slimbayes/objectives/variational.h"
#include "slimbayes/objectives/variational_loss.h"

namespace slimbayes {

/// VBLL (N appendix B; Harrison et al. 2024), a pure function: the data term is
/// -log N(y; mean, noise_var) + ||L^T phi||^2 / (2 noise_var); any expansion, no variance correction. With
/// alpha = 1 it is SV-DBK (E-9, E-11). features [b, r], y [b], offset and noise_var scalars; rows is n.
VariationalLoss vbll(const at::Tensor& features, const at::Tensor& y, const VariationalPosterior& posterior,
                     const at::Tensor& offset, const at::Tensor& noise_var, int64_t rows, double alpha = 0,
                     double beta = 1);

}  // namespace slimbayes
