#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "slimbayes/core/random.h"
#include "slimbayes/ntk/gradient_model.h"

namespace slimbayes {

/// How enrichment() computes A^T A. Below, r is the number of columns of q, and p the number of parameters
/// before the last layer.
struct EnrichmentOptions {
  /// - "gram": exact, by inner products of the rows' gradients, layer by layer. For all layers of nn except
  ///   lstm.
  /// - "sums": exact, by weighted sums of the rows' gradients. For the same layers as gram; holds r * p
  ///   numbers.
  /// - "weighted": exact, by r backward passes. For any network; holds r * p numbers.
  /// - "sketch": approximate, by r backward passes. For any network; holds r * `sketch` numbers.
  /// - "auto": if gram and sums know all layers, the one of the two that takes fewer operations, but gram if
  ///   the r * p numbers of sums take more than `bytes`. Otherwise weighted, or sketch if the r * p numbers
  ///   of weighted take more than `bytes`.
  std::string route = "auto";
  int64_t sketch = 8192;      // the number of dimensions that the sketch keeps
  int64_t bytes = 256 << 20;  // most memory that "auto" accepts for sums and weighted, 8 bytes per number
  /// Most bytes of gradients that gram and sums hold at once. They take more if two rows (gram) or one row
  /// (sums) need more.
  int64_t kept = 128 << 20;
};

/// The result of enrichment(): the matrix, and by which route it was computed.
struct Enrichment {
  at::Tensor gram;     // A^T A = Q^T K_m Q, symmetric. [r, r] float64, on the CPU
  std::string route;   // "gram", "sums", "weighted" or "sketch"
  std::string reason;  // why this route was taken, for a log line
};

/// Returns Q = Phi (Phi^T Phi + ridge m I)^+ of `features` Phi [n, r], where m is the mean squared norm of a
/// row of Phi. With this Q, the matrix A of enrichment() holds the coefficients of a ridge regression (least
/// squares for ridge 0) that predicts the gradient of a row from the row's features. Eigenvalues of Phi^T Phi
/// below 1e-10 of the largest count as zero; they occur with dead units, or with fewer rows than features. A
/// ridge damps the directions of Phi whose eigenvalue is well below ridge * m: the rows say little about
/// these directions, and least squares would extrapolate. Where processes share the rows, `features` and the
/// result are of the rows of `share`, Phi^T Phi and m of all rows. With the weights w [n] > 0 of the rows the
/// regression counts row i as w_i equal rows: Q = W Phi (Phi^T W Phi + ridge m I)^+ with W = diag(w) and m =
/// sum_i w_i ||phi_i||^2 / sum_i w_i. Float64, on the device of the features; the factorisation is made on
/// the CPU. [n, r]
at::Tensor projector(const at::Tensor& features, double ridge = 0, const GradientShare& share = {},
                     const at::Tensor& weights = {});

/// Computes A^T A for A = Phi_m^T Q. Row i of Phi_m [n, p] is the gradient of the chosen output of row i with
/// respect to the parameters before the last layer, and `q` is Q [n, r] float64. Phi_m is never held. The
/// method Rich-BLL (docs/references.md) takes Q = projector(Phi), where Phi are the inputs of the last layer.
///
/// Accuracy: gradients are computed in the type of the model, sums over batches in float64. The exact routes
/// agree with each other to 1e-9 of the largest element with a float64 model, and to 1e-4 with a float32
/// model and a q of moderate size. The gram route is less accurate (1.5e-3 was seen) if q is a projector,
/// with a ridge below 1e-6, of nearly dependent features: use a float64 model there. The sketch M^ of M = A^T
/// A is unbiased, and E||M^ - M||_F^2 <= 2 tr(M)^2 / s with s = options.sketch. So the error ||M^ - M||_F is
/// at most 3 tr(M) / sqrt(s) with a probability of at least 7/9, by Chebyshev's inequality (measured: about
/// 19/20 if M has rank 1, close to 1 otherwise).
///
/// Where processes share the rows, `rows` are all of them on every process, `q` is of the rows of `share` (at
/// least one), and every process returns the sum. The linear routes pass over the rows of `share` only, and
/// send A (the sketch: its sketch); gram sends Q, and each process takes a part of the pairs of rows. The
/// route is that of one process.
///
/// The same stream gives the same bits; only the sketch uses it. Throws std::invalid_argument for an unknown
/// route, for sizes that do not fit, and for "gram" and "sums" if the network has a layer that they do not
/// know.
Enrichment enrichment(const GradientModel& model, const GradientRows& rows, const at::Tensor& q,
                      const EnrichmentOptions& options, const Stream& stream,
                      const GradientShare& share = {});

/// Estimates the floating-point operations of enrichment() for a matrix q of `columns` columns; 0 if there
/// are no gradients. Throws std::invalid_argument for a route that does not know a layer of the network.
double enrichment_flops(const GradientModel& model, const GradientRows& rows, int64_t columns,
                        const EnrichmentOptions& options);

}  // namespace slimbayes
