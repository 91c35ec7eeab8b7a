// The correlation of held-out errors, shrunk towards independence.
//
// Problem     With m held-out rows a correlation has a standard error of about 1 / sqrt(m). Used as they are,
//             the correlations of many targets with few rows make the joint answers worse than independent
//             ones, and the matrix may have eigenvalues of 0 or, with missing cells, below 0.
// Method      Shrinkage to the identity with an analytic intensity (Schaefer and Strimmer 2005). It costs one
//             pass over the rows of each pair and needs no validation.
// Variances   With standardised scores u and v the correlation is the mean of the products u v over the rows,
//             and its variance is estimated by that of this mean: with shares p_i of the weights,
//             sum p_i^2 (u_i v_i - r)^2 / (1 - sum p_i^2). With equal weights this is the paper's
//             n / (n - 1)^3 sum (w_i - mean w)^2, in which the scores are standardised by the unbiased sd.
// Outliers    A row that decides a correlation alone makes this variance large, so that the shrinkage removes
//             what rests on it.
#include "slimbayes/answers/joint/error_correlation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "slimbayes/answers/joint/normal_scores.h"
#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

struct PairCorrelation {
  double value = 0, variance = 0;
};

/// Returns x minus its mean, divided by its sd, both with the shares of the rows. x varies. [r]
at::Tensor standardised(const at::Tensor& x, const at::Tensor& share) {
  const at::Tensor centred = x - (share * x).sum();
  return centred / (share * centred.square()).sum().sqrt();
}

bool varies(const at::Tensor& x) { return x.min().item<double>() < x.max().item<double>(); }

/// Returns the correlation of a and b [r], which are known in all r rows. weight [r] > 0.
PairCorrelation pair_correlation(const at::Tensor& a, const at::Tensor& b, const at::Tensor& weight) {
  if (weight.numel() < kLeastPairRows) return {};
  const at::Tensor share = weight / weight.sum();
  const double concentration = share.square().sum().item<double>();  // 1 / effective number of rows
  if (std::llround(1 / concentration) < kLeastPairRows || !varies(a) || !varies(b)) return {};
  const at::Tensor product = standardised(a, share) * standardised(b, share);
  const double value = (share * product).sum().item<double>();
  const double sum = (share.square() * (product - value).square()).sum().item<double>();
  return {value, sum / (1 - concentration)};
}

/// Returns the weights of m rows in float64 after checking them. [m]
at::Tensor checked_weight(const at::Tensor& weight, int64_t m) {
  if (!weight.defined()) return at::ones({m}, at::kDouble);
  check_shape(weight, {m}, "error_correlation", "weight");
  check_finite(weight, "error_correlation", "weight");
  check((weight >= 0).all().item<bool>(), "error_correlation", "weights of at least 0", "negative ones");
  return weight.to(at::kDouble);
}

}  // namespace

ErrorCorrelation error_correlation(const at::Tensor& z, const at::Tensor& weight) {
  check_shape(z, {-1, -1}, "error_correlation", "z");
  const int64_t k = z.size(1);
  check(k > 0, "error_correlation", "at least one target", "none");
  const at::Tensor all = checked_weight(weight, z.size(0)), used = (all > 0).nonzero().squeeze(1);
  const BoundedScores scores = bounded_scores(z.index_select(0, used));
  const at::Tensor rows_weight = all.index_select(0, used);
  const at::Tensor columns = scores.z.t().contiguous(), known = columns.isnan().logical_not();

  ErrorCorrelation out;
  out.far = scores.far;
  out.rows = (known.sum(0) >= 2).sum().item<int64_t>();
  at::Tensor pairwise = at::eye(k, at::kDouble);
  double variances = 0, squares = 0;
  for (int64_t a = 0; a < k; ++a) {
    for (int64_t b = 0; b < a; ++b) {
      const at::Tensor both = (known[a] & known[b]).nonzero().squeeze(1);
      const PairCorrelation pair =
          pair_correlation(columns[a].index_select(0, both), columns[b].index_select(0, both),
                           rows_weight.index_select(0, both));
      pairwise[a][b].fill_(pair.value);
      pairwise[b][a].fill_(pair.value);
      variances += pair.variance;
      squares += pair.value * pair.value;
    }
  }
  out.shrinkage = squares > 0 ? std::min(1.0, variances / squares) : 1.0;
  const double least = at::linalg_eigvalsh(pairwise).min().item<double>();
  if (least < kLeastCorrelationEigenvalue)
    out.shrinkage = std::max(out.shrinkage, (kLeastCorrelationEigenvalue - least) / (1 - least));
  out.matrix = (1 - out.shrinkage) * pairwise;
  out.matrix.fill_diagonal_(1);
  return out;
}

}  // namespace slimbayes
