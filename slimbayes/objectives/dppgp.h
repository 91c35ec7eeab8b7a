#pragma once

#include "slimbayes/objectives/variational.h"
#include "slimbayes/objectives/variational_loss.h"

namespace slimbayes {

/// dPPGP (N-15), a pure function: the data term is -log N(y; mean, ||L^T phi||^2 + noise_var). features
/// [b, r], y [b], offset and noise_var scalars; rows is n.
VariationalLoss dppgp(const at::Tensor& features, const at::Tensor& y, const VariationalPosterior& posterior,
                      const at::Tensor& offset, const at::Tensor& noise_var, int64_t rows, double alpha,
                      double beta);

}  // namespace slimbayes
