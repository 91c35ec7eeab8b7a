#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// How A^T A is computed.
struct EnrichmentOptions {
  /// "gram": exact, by inner products of the rows' gradients, layer by layer, for the layers of nn but lstm.
  /// "sums": exact, by weighted sums of the rows' gradients, for the same layers; holds r * p numbers.
  /// "weighted": exact, by r backward passes, for any network; holds r * p numbers. "sketch": approximate, by
  /// r backward passes, for any network; holds r * q. "auto": for known layers gram or sums, the one of fewer
  /// operations, but gram if the numbers of sums exceed `bytes`; else weighted, or the sketch if its numbers
  /// exceed `bytes`.
  std::string route = "auto";
  int64_t sketch = 8192;      // q, the dimensions that the sketch keeps
  int64_t bytes = 256 << 20;  // what "auto" lets sums and weighted hold, 8 bytes per number
  int64_t kept = 128 << 20;   // bytes of gradients that gram (of two rows at least) and sums hold at once
};

/// The result of `enrichment`.
struct Enrichment {
  at::Tensor gram;     // A^T A = Q^T K_m Q, symmetric. [r, r] float64
  std::string route;   // "gram", "sums", "weighted" or "sketch"
  std::string reason;  // why, with the operations of the exact routes; for a log line
};

/// Returns Q = Phi (Phi^T Phi + ridge m I)^+ of `features` Phi [n, r], where m is the mean squared norm of a
/// row: A of `enrichment` is then the ridge regression, for ridge 0 the least squares, of the rows of Phi_m
/// on those of Phi. Eigenvalues of Phi^T Phi below 1e-10 of the largest count as zero (dead units, fewer
/// rows than features). A direction of Phi with an eigenvalue well below ridge * m adds little to A: least
/// squares would extrapolate from the little that the rows say about it. Float64. [n, r]
at::Tensor projector(const at::Tensor& features, double ridge = 0);

/// Computes A^T A for A = Phi_m^T Q, where Phi_m [n, p] holds the gradients of the chosen outputs with
/// respect to the earlier parameters and `q` is [n, r] float64. Phi_m is never held. Rich-BLL
/// (docs/references.md) takes Q = projector(Phi_r).
///
/// Gradients are computed in the type of the model: with a float64 model the exact routes agree to 1e-9
/// relative to the largest element, with a float32 model to 1e-4 for a q of moderate size. The gram route
/// loses more where q is a projector with a ridge below 1e-6 of nearly dependent features (1.5e-3 was seen):
/// take a float64 model there. Sums over batches are float64. The sketch
/// M^ has E[M^] = M and E||M^ - M||_F^2 <= 2 tr(M)^2 / q, so ||M^ - M||_F <= 3 tr(M) / sqrt(q) for at least 7
/// of 9 streams (Chebyshev; measured: all but about 1 in 20 if M has rank 1, else almost all). The same
/// stream gives the same bits. Throws std::invalid_argument for an unknown route, sizes that do not fit, and
/// "gram" and "sums" for a network with a layer that they do not know.
Enrichment enrichment(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                      const EnrichmentOptions& options, const Stream& stream);

/// Returns about how many floating-point operations enrichment() takes for a matrix q of `columns` columns.
double enrichment_flops(const GradientModel& model, const GradientRows& rows, int64_t columns,
                        const EnrichmentOptions& options);

}  // namespace slimbayes
