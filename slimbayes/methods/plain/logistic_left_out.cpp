// The prior and the spread of a logistic regression by its predictions of left-out rows.
//
// Left out    Let u_i be the logits of row i in contrasts, S_i their posterior covariance, L_i the row's
//             curvature and g_i its gradient in the logits. One step of Newton's method without the row
//             leads to u_i + S'_i g_i with S'_i = (S_i^-1 - L_i)^-1, which is the covariance without it too.
//             With the root R of L_i, S' = S + S R (I - R S R)^-1 R S. The leverages, the eigenvalues of R S
//             R, are below 1; an approximate covariance may break this, so that they are bounded.
// Cost        A pass of O(n k^2 d^2), or O(n k^2 d) with the Kronecker factors, O(n k^3), and n k draws for
//             each spread. Of many rows with many classes some are taken. With more than a hundred classes
//             nothing is chosen.
#include "slimbayes/methods/plain/logistic_left_out.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <variant>
#include <vector>

#include "slimbayes/answers/class_metrics.h"

namespace slimbayes {

namespace {

constexpr double kMostLeverage = 0.99;
constexpr int64_t kDraws = 64;  // of the logits of a row: the same for all that is compared
constexpr int64_t kMostContrasts = 100;
constexpr double kSpreads[] = {1, 0.3, 0.1, 0.03, 0.01};

/// Returns Q f(values) Q^T of symmetric matrices, with their eigenvalues from 0 to `most`. x [b, k, k]
template <class Function>
at::Tensor of_spectrum(const at::Tensor& x, double most, const Function& f) {
  const auto [values, vectors] = at::linalg_eigh(x);
  return at::matmul(vectors * f(values.clamp(0, most)).unsqueeze(1), vectors.transpose(1, 2));
}

double block_nll(const at::Tensor& mean, const at::Tensor& covariance, const LogisticBlock& block) {
  const auto p = std::get<Classes>(classes_of_gaussian(mean, covariance, kDraws));
  return (class_row_nll(p, block.y) * block.weight).sum().item<double>();
}

/// Calls `each` with the rows in blocks whose matrices [b, k, k] are small. Of many rows with large matrices
/// it takes equally spaced ones: the choice of two numbers needs no more.
void over_blocks(const LogisticRows& rows, const std::function<void(const LogisticBlock& block)>& each) {
  constexpr int64_t kNumbers = int64_t{1} << 19, kFewest = 200;
  constexpr double kWork = 2e8;  // multiplications of k^3 numbers
  const auto k = static_cast<double>(rows.contrasts());
  const int64_t most = std::max(kFewest, static_cast<int64_t>(kWork / (k * k * k)));
  const int64_t step = (rows.size() + most - 1) / most;
  const int64_t classes = rows.contrasts() + 1,
                of_block = std::max<int64_t>(1, kNumbers / (classes * classes));
  int64_t before = 0;  // rows
  rows.over([&](const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight) {
    const int64_t b = x.size(0), first = (step - before % step) % step;
    before += b;
    if (first >= b) return;
    const at::Tensor some = at::arange(first, b, step, at::kLong);
    for (const at::Tensor& part : some.split(of_block))
      each({x.index_select(0, part), y.index_select(0, part), weight.index_select(0, part)});
  });
}

/// Returns the sum of the NLL of the rows' classes, as a fit without each row predicts them, for each of
/// kSpreads; infinity where it is not finite.
std::vector<double> left_out_nll(const LogisticRows& rows, const LogisticMode& mode, double prior_sd) {
  const LogisticDesign how = rows.design(prior_sd);
  const LaplacePosterior posterior = laplace_posterior(mode.loss.matrix, 1);
  const at::Tensor& c = how.contrasts;
  const bool two = rows.contrasts() == 1;
  std::vector<double> nll(std::size(kSpreads), 0.0);
  over_blocks(rows, [&](const LogisticBlock& block) {
    const auto [in_contrasts, covariance] = left_out_logits(how, mode, posterior, block);
    const at::Tensor mean = two ? in_contrasts : in_contrasts.mm(c.t());
    const at::Tensor whole = two ? covariance : at::matmul(at::matmul(c, covariance), c.t());
    const bool finite = mean.isfinite().all().item<bool>() && whole.isfinite().all().item<bool>();
    for (size_t i = 0; i < nll.size(); ++i) {
      nll[i] = finite ? nll[i] + block_nll(mean, kSpreads[i] * whole, block) : NAN;
      if (!std::isfinite(nll[i])) nll[i] = std::numeric_limits<double>::infinity();
    }
  });
  return nll;
}

}  // namespace

GaussianLogits left_out_logits(const LogisticDesign& how, const LogisticMode& mode,
                               const LaplacePosterior& posterior, const LogisticBlock& block) {
  const at::Tensor phi = how.features(block.x), u = phi.mm(mode.coefficients.t()), &c = how.contrasts;
  const at::Tensor s = logit_covariance(posterior, phi, c.size(1));
  const at::Tensor p = at::softmax(u.mm(c.t()), 1);
  const at::Tensor gradient = (p - at::one_hot(block.y, p.size(1))).mm(c) * block.weight.unsqueeze(1);
  const at::Tensor curvature = contrast_curvatures(p, c) * block.weight.view({-1, 1, 1});
  const at::Tensor root = of_spectrum(curvature, std::numeric_limits<double>::infinity(),
                                      [](const at::Tensor& v) { return v.sqrt(); });
  const at::Tensor turned = at::matmul(s, root), leverage = at::matmul(root, turned);
  const at::Tensor inverse =
      of_spectrum(leverage, kMostLeverage, [](const at::Tensor& v) { return 1 / (1 - v); });
  const at::Tensor without = s + at::matmul(at::matmul(turned, inverse), turned.transpose(1, 2));
  return {u + at::matmul(without, gradient.unsqueeze(2)).squeeze(2), without};
}

LogisticChoice logistic_choice(const LogisticRows& rows, double evidence_sd, Callback* callback) {
  constexpr double kShrink = 0.5, kWorth = 1;
  constexpr int kMost = 6;  // prior sds
  LogisticChoice best{evidence_sd, 1};
  if (rows.contrasts() > kMostContrasts) return best;
  double least = std::numeric_limits<double>::infinity(), first = least;
  at::Tensor start = at::zeros({rows.contrasts(), rows.columns() + 1}, at::kDouble);
  double last_sd = evidence_sd;
  for (int i = 0; i < kMost; ++i) {
    if (asked_to_end(callback)) break;
    const double sd = evidence_sd * std::pow(kShrink, i);
    start.narrow(1, 0, rows.columns()).mul_(last_sd / sd);
    const LogisticMode mode = logistic_mode(rows, sd, start, 1e-5);
    start = mode.coefficients.clone();
    last_sd = sd;
    const std::vector<double> nll = left_out_nll(rows, mode, sd);
    if (i == 0) first = nll[0];
    const double here = std::ranges::min(nll);
    if (here > least) break;  // a narrower prior is worse
    if (here < least) {
      least = here;
      best = {sd, kSpreads[static_cast<size_t>(std::ranges::min_element(nll) - nll.begin())]};
    }
  }
  return least + kWorth < first ? best : LogisticChoice{evidence_sd, 1};
}

}  // namespace slimbayes
