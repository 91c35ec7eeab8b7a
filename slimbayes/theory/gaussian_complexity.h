#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "slimbayes/core/random.h"

namespace slimbayes {

/// A matrix of a chain of matrices and activations, as the complexity sees it.
struct ComplexityLayer {
  int64_t out = 1;       // h, rows of the matrix
  int64_t rank = 1;      // r, bound of the rank
  double spectral = 1;   // C, bound of the spectral norm, times the Lipschitz constant of what follows it
  double frobenius = 1;  // its Frobenius norm; used for the first matrix alone
};

/// Returns the value of E.17 of Toure and Stephens (used in their E.15, after Pinto et al. 2025) with every
/// term carrying all the C_i:
///   |X|_F / n (prod_i C_i) (sum_j C0^(D - j) sqrt(r_j h_j)),
/// where for j = 1 the smaller of sqrt(r_1 h_1) and |W_1|_F sqrt(h_1) / C_1 stands. As printed, the terms
/// j >= 2 lack the norms of the layers before them and the first has C_1 twice, so that scaling one matrix
/// does not scale the value. Use it to compare networks. It is never a certificate: C0 is a constant that the
/// source does not give, and Gaussian factors have no bounded support, which E.4 assumes. `input_norm` is
/// |X|_F, the root of the sum of squares of all inputs of all n rows. Throws std::invalid_argument if
/// `layers` is empty, for less than one row and for a `c0` that is not above 0.
double complexity_value(const std::vector<ComplexityLayer>& layers, double input_norm, int64_t rows,
                        double c0);

/// An average over draws.
struct SampledMean {
  double mean, se;  // se: standard error
};

/// Returns the Gaussian complexity of one layer (D = 1), without any bound: of the maps x -> W x with W [h,
/// d] of spectral norm at most `spectral` and rank at most `rank`. The supremum over W is attained at the
/// first `rank` singular vectors, so the complexity is spectral / n times the mean sum of the first `rank`
/// singular values of G [h, n] X with G standard normal. `gram` is X^T X [d, d] float64: G X has the law of
/// Z gram^1/2 with Z [h, d] standard normal. Averages over `draws` draws. It is at most spectral
/// sqrt(rank h) |X|_F / n. Costs O(d^3 + draws h d min(h, d)). Throws std::invalid_argument unless `gram` is
/// [d, d], float64 and finite, and for less than two draws or one row.
///
/// Source: Gaussian complexity as in Bartlett and Mendelson 2002, without the factor 2 and the absolute value
/// there; the supremum is von Neumann's trace inequality.
SampledMean one_layer_complexity(const at::Tensor& gram, int64_t rows, const ComplexityLayer& layer,
                                 const Stream& stream, int64_t draws);

}  // namespace slimbayes
