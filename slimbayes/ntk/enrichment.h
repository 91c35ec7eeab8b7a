#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// How A^T A is computed.
struct EnrichmentOptions {
  /// - "gram": exact, by inner products of the rows' gradients, layer by layer. For all layers of nn except
  ///   lstm.
  /// - "sums": exact, by weighted sums of the rows' gradients. For the same layers; holds r * p numbers.
  /// - "weighted": exact, by r backward passes. For any network; holds r * p numbers.
  /// - "sketch": approximate, by r backward passes. For any network; holds r * q numbers.
  /// - "auto": for known layers, gram or sums, whichever takes fewer operations (but gram if the numbers of
  ///   sums exceed `bytes`). For other layers weighted, or sketch if the numbers of weighted exceed `bytes`.
  std::string route = "auto";
  int64_t sketch = 8192;      // q, the dimensions that the sketch keeps
  int64_t bytes = 256 << 20;  // most memory that "auto" accepts for sums and weighted, 8 bytes per number
  /// Bytes of gradients that gram and sums hold at once. gram holds the gradients of at least two rows.
  int64_t kept = 128 << 20;
};

/// The result of `enrichment`.
struct Enrichment {
  at::Tensor gram;     // A^T A = Q^T K_m Q, symmetric. [r, r] float64
  std::string route;   // "gram", "sums", "weighted" or "sketch"
  std::string reason;  // why this route, with the operations of the exact routes; for a log line
};

/// Returns Q = Phi (Phi^T Phi + ridge m I)^+ of `features` Phi [n, r], where m is the mean squared norm of a
/// row. With this Q, A of `enrichment` holds the coefficients of a ridge regression (least squares for ridge
/// 0) of the rows of Phi_m on the rows of Phi. Eigenvalues of Phi^T Phi below 1e-10 of the largest count as
/// zero (dead units, fewer rows than features). A ridge damps the directions of Phi whose eigenvalue is well
/// below ridge * m: the rows say little about them, and least squares would extrapolate. Float64. [n, r]
at::Tensor projector(const at::Tensor& features, double ridge = 0);

/// Computes A^T A for A = Phi_m^T Q, where Phi_m [n, p] holds the gradients of the chosen outputs with
/// respect to the earlier parameters and `q` is [n, r] float64. Phi_m is never held. Rich-BLL
/// (docs/references.md) takes Q = projector(Phi_r).
///
/// Accuracy: gradients are computed in the type of the model, sums over batches in float64. The exact routes
/// agree to 1e-9 of the largest element with a float64 model, and to 1e-4 with a float32 model and a q of
/// moderate size. The gram route is less accurate (1.5e-3 was seen) if q is a projector, with a ridge below
/// 1e-6, of nearly dependent features: use a float64 model there. The sketch M^ of M = A^T A has E[M^] = M
/// and E||M^ - M||_F^2 <= 2 tr(M)^2 / q, so by Chebyshev's inequality ||M^ - M||_F <= 3 tr(M) / sqrt(q) for
/// at least 7 of 9 streams (measured: for about 19 of 20 if M has rank 1, else for almost all).
///
/// The same stream gives the same bits. Throws std::invalid_argument for an unknown route, sizes that do not
/// fit, and "gram" and "sums" for a network with a layer that they do not know.
Enrichment enrichment(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                      const EnrichmentOptions& options, const Stream& stream);

/// Returns about how many floating-point operations enrichment() takes for a matrix q of `columns` columns.
double enrichment_flops(const GradientModel& model, const GradientRows& rows, int64_t columns,
                        const EnrichmentOptions& options);

}  // namespace slimbayes
