// The prior and the spread of a logistic regression by its predictions of left-out rows.
//
// Left out    Let u_i be the logits of row i in contrasts, S_i their posterior covariance, L_i the row's
//             curvature and g_i its gradient in the logits. One step of Newton's method without the row
//             leads to u_i + S'_i g_i with S'_i = (S_i^-1 - L_i)^-1, which is the covariance without it too.
//             With the root R of L_i, S' = S + S R (I - R S R)^-1 R S. The leverages, the eigenvalues of R S
//             R, are below 1; an approximate covariance may break this, so that they are bounded.
// Cost        A pass of O(n k^2 d^2), or O(n k^2 d) with the Kronecker factors, and n k draws for each
//             spread.
#include "slimbayes/methods/logistic_left_out.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "slimbayes/core/class_metrics.h"

namespace slimbayes {

namespace {

constexpr double kMostLeverage = 0.99;
constexpr int64_t kDraws = 64;  // of the logits of a row: the same for all that is compared

/// Returns Q f(values) Q^T of symmetric matrices, with their eigenvalues from 0 to `most`. x [b, k, k]
template <class Function>
at::Tensor of_spectrum(const at::Tensor& x, double most, const Function& f) {
  const auto [values, vectors] = at::linalg_eigh(x);
  return at::matmul(vectors * f(values.clamp(0, most)).unsqueeze(1), vectors.transpose(1, 2));
}

/// Returns the weighted mean NLL of the rows' classes for these logits with this spread; infinity if it is
/// not finite.
double left_out_nll(const LogisticRows& rows, const GaussianLogits& logits, double spread) {
  const at::Tensor c = rows.design(1).contrasts;
  const bool two = logits.mean.size(1) == 1;
  const at::Tensor mean = two ? logits.mean : logits.mean.mm(c.t());
  const at::Tensor covariance =
      spread * (two ? logits.covariance : at::matmul(at::matmul(c, logits.covariance), c.t()));
  if (!mean.isfinite().all().item<bool>() || !covariance.isfinite().all().item<bool>())
    return std::numeric_limits<double>::infinity();
  std::vector<at::Tensor> targets, weights;
  rows.over([&](const at::Tensor&, const at::Tensor& y, const at::Tensor& weight) {
    targets.push_back(y);
    weights.push_back(weight);
  });
  const at::Tensor weight = at::cat(weights);
  const auto p = std::get<Classes>(classes_of_gaussian(mean, covariance, kDraws));
  const double nll = (class_row_nll(p, at::cat(targets)) * weight).sum().item<double>();
  return std::isfinite(nll) ? nll : std::numeric_limits<double>::infinity();
}

}  // namespace

GaussianLogits left_out_logits(const LogisticRows& rows, const LogisticMode& mode, double prior_sd) {
  const LogisticDesign how = rows.design(prior_sd);
  const LaplacePosterior posterior = laplace_posterior(mode.loss.matrix, 1);
  const int64_t k = rows.contrasts();
  std::vector<at::Tensor> means, covariances;
  rows.over([&](const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight) {
    const at::Tensor phi = how.features(x), u = phi.mm(mode.coefficients.t());
    const at::Tensor s = logit_covariance(posterior, phi, k), &c = how.contrasts;
    const at::Tensor p = at::softmax(u.mm(c.t()), 1);
    const at::Tensor gradient = (p - at::one_hot(y, p.size(1))).mm(c) * weight.unsqueeze(1);
    const at::Tensor curvature = contrast_curvatures(p, c) * weight.view({-1, 1, 1});
    const at::Tensor root = of_spectrum(curvature, std::numeric_limits<double>::infinity(),
                                        [](const at::Tensor& v) { return v.sqrt(); });
    const at::Tensor turned = at::matmul(s, root), leverage = at::matmul(root, turned);
    const at::Tensor inverse =
        of_spectrum(leverage, kMostLeverage, [](const at::Tensor& v) { return 1 / (1 - v); });
    const at::Tensor without = s + at::matmul(at::matmul(turned, inverse), turned.transpose(1, 2));
    means.push_back(u + at::matmul(without, gradient.unsqueeze(2)).squeeze(2));
    covariances.push_back(without);
  });
  return {at::cat(means), at::cat(covariances)};
}

LogisticChoice logistic_choice(const LogisticRows& rows, double evidence_sd) {
  constexpr double kSpreads[] = {1, 0.3, 0.1, 0.03, 0.01}, kShrink = 0.5, kWorth = 1;
  constexpr int kMost = 6;  // prior sds
  LogisticChoice best{evidence_sd, 1};
  double least = std::numeric_limits<double>::infinity(), first = least;
  at::Tensor start = at::zeros({rows.contrasts(), rows.columns() + 1}, at::kDouble);
  double last_sd = evidence_sd;
  for (int i = 0; i < kMost; ++i) {
    const double sd = evidence_sd * std::pow(kShrink, i);
    start.narrow(1, 0, rows.columns()).mul_(last_sd / sd);
    const LogisticMode mode = logistic_mode(rows, sd, start, 1e-5);
    start = mode.coefficients.clone();
    last_sd = sd;
    const GaussianLogits logits = left_out_logits(rows, mode, sd);
    double here = std::numeric_limits<double>::infinity();
    for (const double spread : kSpreads) {
      const double nll = left_out_nll(rows, logits, spread);
      if (i == 0 && spread == 1) first = nll;
      here = std::min(here, nll);
      if (nll < least) {
        least = nll;
        best = {sd, spread};
      }
    }
    if (here > least) break;  // a narrower prior is worse
  }
  return least + kWorth < first ? best : LogisticChoice{evidence_sd, 1};
}

}  // namespace slimbayes
