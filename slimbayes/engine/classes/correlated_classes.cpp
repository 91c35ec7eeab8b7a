// Logits whose covariance comes from a Laplace approximation.
//
// Covariance  With the factor R [k r, k r] (LaplacePosterior::half) that of logits c and d is <R_c phi, R_d
//             phi>, where R_c [k r, r] are the columns of logit c. With Kronecker factors it is
//             V diag(sum_i (U^T phi)_i^2 v_ij) V^T. As in method/laplace_posterior.cpp.
// Draws       f = mean + root z with the symmetric root of the covariance, from its eigenvectors by Jacobi's
//             method: the covariance has as many rows as there are classes.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>

#include "slimbayes/density/class_average.h"
#include "slimbayes/engine/classes/class_model.h"
#include "slimbayes/engine/classes/softmax_draws.h"
#include "slimbayes/engine/features.h"
#include "slimbayes/engine/row_model.h"

namespace slimbayes::engine {

using kernels::padded;

namespace {

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Writes C S C^T to out [rows, rows]; c [rows, k], s [k, k], work [rows, k].
void between(const double* c, int64_t rows, const double* s, int64_t k, double* out, double* work) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < k; ++j) {
      double sum = 0;
      for (int64_t m = 0; m < k; ++m) sum += c[i * k + m] * s[m * k + j];
      work[i * k + j] = sum;
    }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j) out[i * rows + j] = dot(work + i * k, c + j * k, k);
}

/// Turns the rows and columns i and j of the symmetric matrix a [n, n] so that a_ij becomes 0, and the
/// columns of v with them.
void rotate(double* a, double* v, int64_t n, int64_t i, int64_t j) {
  const double off = a[i * n + j];
  if (off == 0) return;
  const double theta = (a[j * n + j] - a[i * n + i]) / (2 * off);
  const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1.0)), theta);
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const auto turn = [c, s](double& x, double& y) {
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  };
  for (int64_t m = 0; m < n; ++m) turn(a[m * n + i], a[m * n + j]);
  for (int64_t m = 0; m < n; ++m) turn(a[i * n + m], a[j * n + m]);
  a[i * n + j] = a[j * n + i] = 0;  // up to rounding
  for (int64_t m = 0; m < n; ++m) turn(v[m * n + i], v[m * n + j]);
}

/// Diagonalises the symmetric matrix a [n, n] in place by cyclic Jacobi rotations; the columns of v become
/// its eigenvectors. Returns false for numbers whose squares overflow, and if it does not converge.
bool diagonalise(double* a, double* v, int64_t n) {
  constexpr int kMostSweeps = 60;
  std::fill_n(v, n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) v[i * n + i] = 1;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) (i == j ? all : off) += a[i * n + j] * a[i * n + j];
    if (!std::isfinite(all + off)) return false;
    if (off <= 1e-30 * (all + off)) return true;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) rotate(a, v, n, i, j);
  }
  return false;
}

/// Replaces the covariance s [n, n] by its symmetric root, or by NaN where that cannot be computed. `work` [2
/// n n]. Throws NumericalError where an eigenvalue is negative by more than rounding. Returns how many were
/// negative beside one, which the covariance of logits has as a rounded 0: they have a fixed sum.
int64_t take_root(double* s, int64_t n, double* work) {
  double* v = work;
  if (!diagonalise(s, v, n)) {
    std::fill_n(s, n * n, std::numeric_limits<double>::quiet_NaN());
    return 0;
  }
  double largest = s[0];
  for (int64_t i = 1; i < n; ++i) largest = std::max(largest, s[i * n + i]);
  double* scaled = work + n * n;
  int64_t zeroed = 0;
  for (int64_t j = 0; j < n; ++j) {
    const double value = std::sqrt(rounded_row_variance(s[j * n + j], largest, zeroed));
    for (int64_t i = 0; i < n; ++i) scaled[i * n + j] = v[i * n + j] * value;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) s[i * n + j] = dot(scaled + i * n, v + j * n, n);
  return std::max<int64_t>(0, zeroed - 1);
}

class CorrelatedClassModel : public ClassModel {
 public:
  CorrelatedClassModel(std::shared_ptr<const Features> features, const CorrelatedLogits& spec)
      : features_(std::move(features)), spec_(spec), draws_(0, checked_logits(spec, *features_)) {
    if (!spec_.half.empty()) {
      turn_half();
    } else if (spec_.centred) {
      for (int64_t j = 0; j < k(); ++j) {
        double mean = 0;
        for (int64_t c = 0; c < k(); ++c) mean += of_classes(c, j);
        for (int64_t c = 0; c < k(); ++c) of_classes(c, j) -= mean / static_cast<double>(k());
      }
    }
  }

  int64_t inputs() const override { return features_->inputs(); }
  int64_t classes() const override { return std::max<int64_t>(2, logits()); }
  int64_t scratch() const override {
    const int64_t turned = spec_.half.empty() ? r() : k() * k() * r();
    return padded(features_->scratch()) + padded(r()) + 2 * padded(logits()) + padded(k() * k()) +
           padded(logits() * logits()) +
           std::max(padded(turned), padded(2 * logits() * logits()) + draws_.work_doubles());
  }

  ClassRow answer(const double* x, double* p, double* scratch) const override {
    const int64_t n = logits();
    const Features::Rows f = features_->run(x, 1, part_of(scratch, features_->scratch()));
    double *phi = part_of(scratch, r()), *mean = part_of(scratch, n), *u = part_of(scratch, n),
           *own = part_of(scratch, k() * k()), *all = part_of(scratch, n * n);
    for (int64_t j = 0; j < features_->rank(); ++j)
      phi[j] = (f.phi[j] - (spec_.centre.empty() ? 0 : spec_.centre[static_cast<size_t>(j)])) * spec_.scale;
    if (spec_.last) phi[r() - 1] = *spec_.last;
    for (int64_t c = 0; c < k(); ++c)
      u[c] = spec_.weights.empty() ? f.output[c] : dot(spec_.weights.data() + c * r(), phi, r());
    covariance(phi, own, scratch);
    if (spec_.contrasts.empty()) {
      std::copy_n(u, n, mean);
      std::copy_n(own, n * n, all);
    } else {
      for (int64_t c = 0; c < n; ++c) mean[c] = dot(spec_.contrasts.data() + c * k(), u, k());
      between(spec_.contrasts.data(), n, own, k(), all, scratch);
    }
    if (n == 1) return {average_sigmoid(mean[0], all[0], {p, 2})};
    if (!std::all_of(all, all + n * n, [](double one) { return std::isfinite(one); })) {
      std::fill_n(p, n, std::numeric_limits<double>::quiet_NaN());
      return {p[0]};
    }
    const int64_t zeroed = take_root(all, n, scratch);
    const auto size = static_cast<size_t>(n);
    return {
        draws_.average_correlated({mean, size}, {all, size * size}, {p, size}, scratch + padded(2 * n * n)),
        zeroed};
  }

 private:
  /// Returns the number of logits. Checks all sizes before there is memory for the draws.
  static int64_t checked_logits(const CorrelatedLogits& spec, const Features& features) {
    const auto has = [](const std::vector<double>& v, std::initializer_list<int64_t> sizes) {
      double product = 1;  // exact below 2^53, and no vector has more numbers
      for (const int64_t size : sizes) product *= static_cast<double>(size);
      return static_cast<double>(v.size()) == product;
    };
    const int64_t k = spec.outputs, r = features.rank() + (spec.last ? 1 : 0);
    const int64_t logits = has(spec.contrasts, {k + 1, k}) ? k + 1 : k;
    const bool kronecker =
        has(spec.of_features, {r, r}) && has(spec.of_classes, {k, k}) && has(spec.variances, {r, k});
    check_parts(k > 0 && (spec.half.empty() ? kronecker : has(spec.half, {k, r, k, r})) &&
                    (spec.weights.empty() ? features.outputs() == k : has(spec.weights, {k, r})) &&
                    (spec.contrasts.empty() || has(spec.contrasts, {logits, k})) &&
                    (spec.centre.empty() || has(spec.centre, {features.rank()})) &&
                    std::isfinite(spec.scale) && (!spec.last || std::isfinite(*spec.last)),
                "the factors of a covariance of the logits", "others");
    return logits;
  }
  int64_t k() const { return spec_.outputs; }
  int64_t r() const { return features_->rank() + (spec_.last ? 1 : 0); }
  int64_t logits() const { return draws_.logits(); }
  double& of_classes(int64_t c, int64_t j) { return spec_.of_classes[static_cast<size_t>(c * k() + j)]; }

  /// Stores the columns of the factor one after another, and notes where each begins.
  void turn_half() {
    const int64_t q = k() * r();
    const std::vector<double> given = std::move(spec_.half);
    spec_.half.assign(given.size(), 0.0);
    for (int64_t j = 0; j < q; ++j) {
      int64_t first = q;
      for (int64_t i = q; i-- > 0;) {
        const double value = given[static_cast<size_t>(i * q + j)];
        spec_.half[static_cast<size_t>(j * q + i)] = value;
        if (value != 0) first = i;
      }
      begins_.push_back(first);
    }
  }

  /// Writes the covariance of the k logits to s [k, k].
  void covariance(const double* phi, double* s, double* work) const {
    if (spec_.half.empty()) return by_kronecker(phi, s, work);
    const int64_t q = k() * r();
    std::fill_n(work, k() * q, 0.0);
    for (int64_t c = 0; c < k(); ++c)
      for (int64_t j = 0; j < r(); ++j) {
        const int64_t column = c * r() + j;
        const double* from = spec_.half.data() + column * q;
        const double by = phi[j];
        double* to = work + c * q;
        for (int64_t i = begins_[static_cast<size_t>(column)]; i < q; ++i) to[i] += by * from[i];
      }
    if (spec_.centred)
      for (int64_t i = 0; i < q; ++i) {
        double mean = 0;
        for (int64_t c = 0; c < k(); ++c) mean += work[c * q + i];
        for (int64_t c = 0; c < k(); ++c) work[c * q + i] -= mean / static_cast<double>(k());
      }
    for (int64_t c = 0; c < k(); ++c)
      for (int64_t d = 0; d <= c; ++d) s[c * k() + d] = s[d * k() + c] = dot(work + c * q, work + d * q, q);
  }

  void by_kronecker(const double* phi, double* s, double* turned) const {
    std::fill_n(turned, r(), 0.0);
    for (int64_t j = 0; j < r(); ++j)
      for (int64_t i = 0; i < r(); ++i)
        turned[i] += phi[j] * spec_.of_features[static_cast<size_t>(j * r() + i)];
    std::fill_n(s, k() * k(), 0.0);
    for (int64_t j = 0; j < k(); ++j) {
      double var = 0;
      for (int64_t i = 0; i < r(); ++i)
        var += turned[i] * turned[i] * spec_.variances[static_cast<size_t>(i * k() + j)];
      for (int64_t c = 0; c < k(); ++c)
        for (int64_t d = 0; d < k(); ++d)
          s[c * k() + d] += var * spec_.of_classes[static_cast<size_t>(c * k() + j)] *
                            spec_.of_classes[static_cast<size_t>(d * k() + j)];
    }
  }

  std::shared_ptr<const Features> features_;
  CorrelatedLogits spec_;
  SoftmaxDraws draws_;
  std::vector<int64_t> begins_;  // of each column of the factor: its first number that is not 0
};

}  // namespace

std::shared_ptr<const ClassModel> correlated_class_model(const CorrelatedLogits& spec) {
  std::shared_ptr<const Features> features = features_without_sketch(spec.features);
  return features ? std::make_shared<CorrelatedClassModel>(std::move(features), spec) : nullptr;
}

}  // namespace slimbayes::engine
