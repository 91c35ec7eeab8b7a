// Passes over the rows of a logistic regression.
//
// Loss        With u = phi V^T, p = softmax(u C^T) and the weights a_i of the rows: the gradient is
//             sum_i a_i C^T (p_i - e_y) phi_i^T + V, the Hessian sum_i a_i C^T (diag p_i - p_i p_i^T) C (x)
//             phi_i phi_i^T + I.
// Bound       diag p - p p^T <= (I - 11^T / K) / 2 for all p (Boehning 1992). In contrasts the bound is a
//             multiple of the identity, so that one spectrum of the columns' Gram matrix solves with it for
//             every prior. The columns are centred, which separates them from the intercept.
// Cost        A pass with the full Hessian O(n k^2 d^2), else O(n k d); the spectrum O(d^3) once.
#include "slimbayes/methods/plain/logistic_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "slimbayes/core/linalg.h"
#include "slimbayes/method/batches.h"
#include "slimbayes/method/disk_rows.h"

namespace slimbayes {

namespace {

/// The prior sd of the intercept at the mean of the columns: wide for log odds, and it keeps the probability
/// of a class without rows above 0.
constexpr double kInterceptSd = 5;

/// Calls `each` with the rows of a batch [b, d], their classes and their weights [b], each that of its class
/// times its own.
void over_class_rows(
    const Dataset& rows, const at::Tensor& weights,
    const std::function<void(const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight)>& each) {
  over_batches(rows, {}, [&](const Batch& batch) {
    const at::Tensor y = batch.target.to(at::kLong), of_class = weights.index_select(0, y);
    each(input_of(batch, at::kDouble).x.flatten(1), y,
         batch.weight.defined() ? of_class * batch.weight : of_class);
  });
}

/// Returns the weighted sum of the same over the rows, without a matrix for each. [k, k]
at::Tensor summed_curvature(const at::Tensor& p, const at::Tensor& weight, const at::Tensor& contrasts) {
  const at::Tensor each = p * weight.sqrt().unsqueeze(1), all = (p * weight.unsqueeze(1)).sum(0);
  return contrasts.t().mm(contrasts * all.unsqueeze(1)) - each.mm(contrasts).t().mm(each.mm(contrasts));
}

/// Adds the rows of a batch to the full Hessian.
void add_full(const at::Tensor& phi, const at::Tensor& curvature, at::Tensor full) {
  const int64_t k = curvature.size(1), r = phi.size(1);
  for (int64_t c = 0; c < k; ++c)
    for (int64_t d = 0; d <= c; ++d)
      full.narrow(0, c * r, r)
          .narrow(1, d * r, r)
          .addmm_(phi.t(), phi * curvature.select(1, c).select(1, d).unsqueeze(1));
}

}  // namespace

at::Tensor LogisticDesign::features(const at::Tensor& x) const {
  const at::Tensor rows = x.to(at::kDouble).flatten(1);
  return at::cat({(rows - centre) * prior_sd, at::full({rows.size(0), 1}, kInterceptSd, at::kDouble)}, 1);
}

at::Tensor class_contrasts(int64_t classes) {
  if (classes == 2) return at::tensor({-0.5, 0.5}, at::kDouble).unsqueeze(1);
  at::Tensor all = at::zeros({classes, classes - 1}, at::kDouble);
  for (int64_t j = 1; j < classes; ++j) {  // Helmert's: class j against the mean of those before it
    const double one = 1 / std::sqrt(static_cast<double>(j * (j + 1)));
    all.select(1, j - 1).narrow(0, 0, j).fill_(-one);
    all[j][j - 1] = static_cast<double>(j) * one;
  }
  return all;
}

at::Tensor contrast_curvatures(const at::Tensor& p, const at::Tensor& contrasts) {
  const at::Tensor pairs = contrasts.unsqueeze(2) * contrasts.unsqueeze(1);  // [K, k, k]
  const at::Tensor mean = p.mm(contrasts);
  const int64_t k = contrasts.size(1);
  return p.mm(pairs.flatten(1)).view({-1, k, k}) - mean.unsqueeze(2) * mean.unsqueeze(1);
}

LogisticRows::LogisticRows(const Dataset& rows, const at::Tensor& weights, bool full, const Collective* ranks)
    : rows_(readable_rows(rows, ranks)), n_(rows.size()), on_disk_(are_on_disk(rows)), full_(full) {
  const int64_t classes = std::max<int64_t>(2, rows.schema.task.outputs);
  contrasts_ = class_contrasts(classes);
  weights_ = weights.defined() ? weights.to(at::kDouble) : at::ones({classes}, at::kDouble);
  measure();
}

void LogisticRows::measure() {
  over_own([&](const at::Tensor& x, const at::Tensor&, const at::Tensor& weight) {
    const at::Tensor sum = at::mv(x.t(), weight);
    centre_ = centre_.defined() ? centre_ + sum : sum;
    total_ += weight.sum().item<double>();
  });
  const at::Tensor total = at::full({1}, total_, at::kDouble);
  sum_over_ranks({centre_, total}, rows_.ranks);
  total_ = total.item<double>();
  centre_ = centre_ / total_;
  at::Tensor squares = at::zeros_like(centre_);
  if (!full_) gram_ = at::zeros({columns(), columns()}, at::kDouble);
  over_own([&](const at::Tensor& x, const at::Tensor&, const at::Tensor& weight) {
    const at::Tensor apart = (x - centre_) * weight.sqrt().unsqueeze(1);
    squares += apart.square().sum(0);
    if (!full_) gram_.addmm_(apart.t(), apart);
  });
  sum_over_ranks({squares}, rows_.ranks);
  if (!full_) sum_over_ranks({gram_}, rows_.ranks);
  const double mean = squares.mean().item<double>() / total_;
  scale_ = mean > 1e-12 ? mean : 1;
  if (full_) return;
  Spectrum found = spectrum(gram_);
  values_ = std::move(found.values);
  vectors_ = std::move(found.vectors);
}

void LogisticRows::over(const std::function<void(const at::Tensor& x, const at::Tensor& y,
                                                 const at::Tensor& weight)>& each) const {
  over_class_rows(rows_.rows, weights_, each);
}

void LogisticRows::over_own(const std::function<void(const at::Tensor& x, const at::Tensor& y,
                                                     const at::Tensor& weight)>& each) const {
  on_all_ranks(rows_.ranks, [&] { over(each); });
}

LogisticLoss LogisticRows::loss(const at::Tensor& coefficients, double prior_sd) const {
  const LogisticDesign how = design(prior_sd);
  const int64_t r = columns() + 1, k = contrasts();
  LogisticLoss out;
  if (adds_prior()) out.value = 0.5 * coefficients.square().sum().item<double>();
  out.gradient = adds_prior() ? coefficients.clone() : at::zeros_like(coefficients);
  out.matrix = gauss_newton(k, r, full_);
  out.matrix.n = n_;
  if (!full_) out.coefficients = coefficients;
  over_own([&](const at::Tensor& x, const at::Tensor& y, const at::Tensor& weight) {
    const at::Tensor phi = how.features(x);
    const at::Tensor log_p = at::log_softmax(phi.mm(coefficients.t()).mm(contrasts_.t()), 1), p = log_p.exp();
    out.value -= at::dot(log_p.gather(1, y.unsqueeze(1)).squeeze(1), weight).item<double>();
    const at::Tensor residual = (p - at::one_hot(y, p.size(1))) * weight.unsqueeze(1);
    out.gradient.addmm_(residual.mm(contrasts_).t(), phi);
    out.matrix.classes += summed_curvature(p, weight, contrasts_);
    if (full_)
      add_full(phi, contrast_curvatures(p, contrasts_) * weight.view({-1, 1, 1}), out.matrix.full);
    else if (!on_disk_)
      out.probabilities.push_back(p);
  });
  const at::Tensor value = at::full({1}, out.value, at::kDouble);
  sum_over_ranks({value, out.gradient, out.matrix.classes}, rows_.ranks);
  if (full_) sum_over_ranks({out.matrix.full}, rows_.ranks);
  out.value = value.item<double>();
  // The Kronecker form divides by the number of rows; both of its factors are sums of weights.
  out.matrix.classes *= static_cast<double>(out.matrix.n) / total_;
  if (full_) {
    out.matrix.full = at::tril(out.matrix.full) + at::tril(out.matrix.full, -1).t();
    return out;
  }
  out.matrix.features.narrow(0, 0, r - 1).narrow(1, 0, r - 1).copy_(gram_ * (prior_sd * prior_sd));
  out.matrix.features[r - 1][r - 1] = total_ * kInterceptSd * kInterceptSd;
  return out;
}

at::Tensor LogisticRows::hessian_times(const LogisticLoss& at, const at::Tensor& v, double prior_sd) const {
  const LogisticDesign how = design(prior_sd);
  at::Tensor out = adds_prior() ? v.clone() : at::zeros_like(v);
  size_t batch = 0;
  over_own([&](const at::Tensor& x, const at::Tensor&, const at::Tensor& weight) {
    const at::Tensor phi = how.features(x);
    const at::Tensor p = on_disk_ ? at::softmax(phi.mm(at.coefficients.t()).mm(contrasts_.t()), 1)
                                  : at.probabilities.at(batch++);
    const at::Tensor turned = phi.mm(v.t()).mm(contrasts_.t());
    const at::Tensor change = p * (turned - (p * turned).sum(1, /*keepdim=*/true)) * weight.unsqueeze(1);
    out.addmm_(change.mm(contrasts_).t(), phi);
  });
  sum_over_ranks({out}, rows_.ranks);
  return out;
}

at::Tensor LogisticRows::feature_values(double prior_sd) const {
  const at::Tensor intercept = at::full({1}, total_ * kInterceptSd * kInterceptSd, at::kDouble);
  return at::cat({values_ * (prior_sd * prior_sd), intercept});
}

at::Tensor LogisticRows::over_bound(const at::Tensor& v, double prior_sd) const {
  const double bound = 0.5 * contrasts_.select(1, 0).square().sum().item<double>();
  const at::Tensor values = 1 + bound * feature_values(prior_sd);
  const at::Tensor turned = v.narrow(1, 0, columns()).mm(vectors_) / values.narrow(0, 0, columns());
  return at::cat({turned.mm(vectors_.t()), v.narrow(1, columns(), 1) / values[columns()]}, 1);
}

}  // namespace slimbayes
