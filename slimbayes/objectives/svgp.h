#pragma once

#include "slimbayes/objectives/variational.h"
#include "slimbayes/objectives/variational_loss.h"

namespace slimbayes {

/// SVGP (N-5; Hensman et al. 2013), a pure function: the data term is
/// -log N(y; mean, noise_var) + (||L^T phi||^2 + correction) / (2 noise_var), so that with beta = 1 the total
/// is minus a bound on the log evidence, divided by n. features [b, r]; correction = k~(x, x) - ||phi||^2 [b]
/// of an inducing-point expansion (N-4); y [b], offset and noise_var scalars; rows is n. Throws
/// std::invalid_argument without a correction.
VariationalLoss svgp(const at::Tensor& features, const at::Tensor& correction, const at::Tensor& y,
                     const VariationalPosterior& posterior, const at::Tensor& offset,
                     const at::Tensor& noise_var, int64_t rows, double beta = 1);

}  // namespace slimbayes
