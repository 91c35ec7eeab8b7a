#pragma once

#include <ATen/core/Tensor.h>

#include "slimbayes/basis/silu.h"
#include "slimbayes/catalog/dbk_options.h"
#include "slimbayes/nn/network.h"
#include "slimbayes/nn/parameters.h"
#include "slimbayes/objectives/dppgp.h"

namespace slimbayes {

/// A deep basis kernel bound to tensors: leaves of the flat buffer in training, float64 copies in prediction.
struct DbkModel {
  Network backbone;
  SiluBasis basis;
  VariationalPosterior posterior;
  at::Tensor offset, log_noise;  // scalars
  double noise_floor;

  DbkModel(const DbkOptions& options, const NetworkSpec& spec, const Network::Lookup& lookup);

  at::Tensor features(const at::Tensor& x) const;  // [b, d] -> [b, r]
  at::Tensor noise_var() const;                    // exp(log_noise) + floor, scalar

  /// A training step's gradients, added to those of the parameters; x [b, d], y [b], n = `rows` training
  /// rows.
  DppgpLoss backward(const at::Tensor& x, const at::Tensor& y, int64_t rows, double alpha, double beta,
                     double focus) const;
};

/// The start of N appendix B: m = 0, log L_ii = -1/2 log r, strictly lower part N(0, 1) / r, offset 0; groups
/// "backbone", "head", "noise". float32. Throws std::invalid_argument unless noise_start > noise_floor.
Parameters dbk_parameters(const DbkOptions& options, const NetworkSpec& spec, const Stream& stream);

}  // namespace slimbayes
