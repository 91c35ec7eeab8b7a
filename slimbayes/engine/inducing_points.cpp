#include "slimbayes/engine/inducing_points.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace slimbayes::engine {

using kernels::padded;
using kernels::Rows;
using kernels::Triangle;

namespace {

constexpr double kNugget = 1e-11;         // as a share of the amplitude; basis/rbf.cpp explains it
constexpr double kMostSquared = 1e4;      // |v|^2, as squared_distances() in core/linalg.h has it
constexpr int64_t kBand = kernels::kPad;  // rows of a triangular product at a time

}  // namespace

InducingPoints::InducingPoints(int64_t inputs, int64_t rank, const kernels::Kernels& kernels)
    : kernels_(kernels),
      h_(inputs),
      r_(rank),
      ldh_(padded(inputs)),
      ld_(padded(rank)),
      factor_(ld_, kernels),
      division_(UpperFactor::work_doubles(ld_)) {
  for (Doubles* each : {&inverse_scale_, &centre_}) each->reserve(ldh_);
  for (Doubles* each : {&points_, &transposed_points_}) each->reserve(ld_ * ldh_);
  for (Doubles* each : {&gram_, &first_}) each->reserve(ld_ * ld_);
  second_.reserve(ld_ * std::max(ld_, ldh_));
  offsets_.reserve(ld_);
}

InducingPoints::Sums InducingPoints::sums() const {
  Sums sums{Doubles(r_ * ld_), Doubles(r_ * ldh_), Doubles(ld_), Doubles(ldh_)};
  clear(sums);
  return sums;
}

void InducingPoints::clear(Sums& sums) const {
  std::fill_n(sums.products.data(), r_ * ld_, 0.0);
  std::fill_n(sums.points.data(), r_ * ldh_, 0.0);
  std::fill_n(sums.columns.data(), ld_, 0.0);
  std::fill_n(sums.lengthscale.data(), ldh_, 0.0);
  sums.kernel = sums.amplitude = 0;
}

void InducingPoints::add(Sums& to, const Sums& other) const {
  const auto add = [](const Doubles& sum, const Doubles& more, int64_t n) {
    for (int64_t i = 0; i < n; ++i) sum.data()[i] += more.data()[i];
  };
  add(to.products, other.products, r_ * ld_);
  add(to.points, other.points, r_ * ldh_);
  add(to.columns, other.columns, ld_);
  add(to.lengthscale, other.lengthscale, ldh_);
  to.kernel += other.kernel;
  to.amplitude += other.amplitude;
}

InducingPoints::Work InducingPoints::work() const {
  return {Doubles(kChunkRows * ld_), Doubles(kChunkRows * ldh_), Doubles(kChunkRows),
          Doubles(UpperFactor::work_doubles(kChunkRows))};
}

// --- Parameters

/// Computes v and what the passes need of it.
void InducingPoints::read(const InducingValues<const float>& values) {
  double *scale = inverse_scale_.data(), *centre = centre_.data(), *v = points_.data();
  for (Doubles* each : {&inverse_scale_, &centre_}) std::fill_n(each->data(), ldh_, 0.0);
  std::fill_n(v, ld_ * ldh_, 0.0);
  for (int64_t j = 0; j < h_; ++j) scale[j] = std::exp(-static_cast<double>(values.log_lengthscale[j]));
  for (int64_t i = 0; i < r_; ++i)
    for (int64_t j = 0; j < h_; ++j) centre[j] += values.points[i * h_ + j];
  for (int64_t j = 0; j < h_; ++j) centre[j] *= scale[j] / static_cast<double>(r_);
  for (int64_t i = 0; i < r_; ++i)
    for (int64_t j = 0; j < h_; ++j) v[i * ldh_ + j] = values.points[i * h_ + j] * scale[j] - centre[j];
  kernels_.transpose64(v, ldh_, ld_, h_, 1, transposed_points_.data(), ld_);
}

/// Computes the upper triangle of K_ZZ, with ones on the diagonal of its padding.
void InducingPoints::gram() {
  double *k = gram_.data(), *offset = offsets_.data();
  std::fill_n(k, ld_ * ld_, 0.0);
  std::fill_n(offset, ld_, 0.0);
  kernels_.row_squares64({r_, h_, ldh_}, points_.data(), offset);
  double half[kBand];
  for (int64_t i = 0; i < r_; ++i) offset[i] = log_amplitude_ - offset[i] / 2;
  for (int64_t i = 0; i < r_; i += kBand) {
    const int64_t rows = std::min(kBand, r_ - i);
    for (int64_t p = 0; p < rows; ++p) half[p] = log_amplitude_ - offset[i + p];
    kernels_.product64({.m = rows,
                        .k = h_,
                        .n = r_ - i,
                        .a = points_.data() + i * ldh_,
                        .lda = ldh_,
                        .b = transposed_points_.data() + i,
                        .ldb = ld_,
                        .c = k + i * ld_ + i,
                        .ldc = ld_,
                        .bias = offset + i});
    kernels_.exp_differences64({rows, r_ - i, ld_}, k + i * ld_ + i, half, log_amplitude_);
  }
  for (int64_t i = 0; i < ld_; ++i) k[i * ld_ + i] = i < r_ ? amplitude_ * (1 + kNugget) : 1;
}

bool InducingPoints::prepare(const InducingValues<const float>& values) {
  log_amplitude_ = *values.log_amplitude;
  amplitude_ = std::exp(log_amplitude_);
  read(values);
  gram();
  for (int64_t i = 0; i < r_; ++i)
    if (!(log_amplitude_ - offsets_.data()[i] <= kMostSquared / 2)) return false;
  return factor_.factorise(gram_.data());
}

// --- Passes

/// Computes k_Z [rows, ld] and phi [rows, ld] from u; `half` [rows] and `division` are for intermediate
/// results.
void InducingPoints::expand(int64_t rows, const double* u, double* cross, double* phi, double* half,
                            double* division) const {
  kernels_.row_squares64({rows, h_, ldh_}, u, half);
  for (int64_t i = 0; i < rows; ++i) half[i] /= 2;
  kernels_.product64({.m = rows,
                      .k = h_,
                      .n = r_,
                      .a = u,
                      .lda = ldh_,
                      .b = transposed_points_.data(),
                      .ldb = ld_,
                      .c = cross,
                      .ldc = ld_,
                      .bias = offsets_.data()});
  kernels_.exp_differences64({rows, r_, ld_}, cross, half, log_amplitude_);
  std::copy_n(cross, rows * ld_, phi);
  factor_.divide(rows, phi, division);
}

void InducingPoints::forward(const float* g, int64_t rows, double* tape, Work& work, float* phi32,
                             double* squares) const {
  double *u = tape, *cross = u + kChunkRows * ldh_, *phi = cross + kChunkRows * ld_;
  const Rows features{rows, r_, ld_};
  kernels_.widen({rows, h_, ldh_}, g, inverse_scale_.data(), centre_.data(), u);
  expand(rows, u, cross, phi, work.of_rows.data(), work.division.data());
  kernels_.row_squares64(features, phi, squares);
  kernels_.narrow(features, phi, phi32);
}

double* InducingPoints::features(const double* g, int64_t rows, double* scratch) const {
  double *u = scratch, *cross = u + kChunkRows * ldh_, *phi = cross + kChunkRows * ld_,
         *half = phi + kChunkRows * ld_, *division = half + kChunkRows;
  const double *scale = inverse_scale_.data(), *centre = centre_.data();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < ldh_; ++j) u[i * ldh_ + j] = g[i * ldh_ + j] * scale[j] - centre[j];
  expand(rows, u, cross, phi, half, division);
  return phi;
}

namespace {

// Loops over padded rows in groups of 16, whose length the compiler knows.

/// to = from + scale_i other, row by row; scale nullptr: to = from.
void widen_sum(const Rows& at, const float* from, const double* scale, const double* other, double* to) {
  for (int64_t i = 0; i < at.rows; ++i) {
    const double factor = scale == nullptr ? 0 : scale[i];
    for (int64_t j = i * at.ld; j < i * at.ld + padded(at.width); j += kBand)
      for (int64_t v = 0; v < kBand; ++v) to[j + v] = from[j + v] + factor * other[j + v];
  }
}

/// w *= other; of_rows[i] = sum_j w[i, j] by 16 partial sums; columns[j] += sum_i w[i, j].
void weigh(const Rows& at, double* w, const double* other, double* of_rows, double* columns) {
  for (int64_t i = 0; i < at.rows; ++i, w += at.ld, other += at.ld) {
    double parts[kBand] = {};
    for (int64_t j = 0; j < padded(at.width); j += kBand)
      for (int64_t v = 0; v < kBand; ++v) {
        const double product = w[j + v] * other[j + v];
        w[j + v] = product;
        parts[v] += product;
        columns[j + v] += product;
      }
    double sum = 0;
    for (const double part : parts) sum += part;
    of_rows[i] = sum;
  }
}

/// g[i, :] -= of_rows[i] u[i, :]; sums[j] += sum_i g[i, j] u[i, j].
void finish_inputs(const Rows& at, double* g, const double* of_rows, const double* u, double* sums) {
  for (int64_t i = 0; i < at.rows; ++i, g += at.ld, u += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kBand)
      for (int64_t v = 0; v < kBand; ++v) {
        const double own = g[j + v] - of_rows[i] * u[j + v];
        g[j + v] = own;
        sums[j + v] += own * u[j + v];
      }
}

/// to = from * scale, rounded.
void narrow_scaled(const Rows& at, const double* from, const double* scale, float* to) {
  for (int64_t i = 0; i < at.rows; ++i, from += at.ld, to += at.ld)
    for (int64_t j = 0; j < padded(at.width); j += kBand)
      for (int64_t v = 0; v < kBand; ++v) to[j + v] = static_cast<float>(from[j + v] * scale[j + v]);
}

}  // namespace

void InducingPoints::backward(int64_t rows, const double* tape, const float* grad_phi,
                              const double* grad_correction, Work& work, Sums& sums, float* grad_g) const {
  const double *u = tape, *cross = u + kChunkRows * ldh_, *phi = cross + kChunkRows * ld_;
  double *g = work.gradient.data(), *of_rows = work.of_rows.data(), *grad_u = work.input_gradient.data();
  const Rows inputs{rows, h_, ldh_}, features{rows, r_, ld_};
  for (int64_t i = 0; i < rows && grad_correction != nullptr; ++i) {
    of_rows[i] = -2 * grad_correction[i];
    sums.amplitude += grad_correction[i];
  }
  widen_sum(features, grad_phi, grad_correction == nullptr ? nullptr : of_rows, phi, g);
  kernels_.transposed_product64({.m = rows,
                                 .k = r_,
                                 .n = r_,
                                 .a = g,
                                 .lda = ld_,
                                 .b = phi,
                                 .ldb = ld_,
                                 .c = sums.products.data(),
                                 .ldc = ld_,
                                 .triangle = Triangle::lower});
  double* w = g;
  factor_.divide_transposed(rows, w, work.division.data());
  weigh(features, w, cross, of_rows, sums.columns.data());
  for (int64_t i = 0; i < rows; ++i) sums.kernel += of_rows[i];
  kernels_.transposed_product64({.m = rows,
                                 .k = r_,
                                 .n = h_,
                                 .a = w,
                                 .lda = ld_,
                                 .b = u,
                                 .ldb = ldh_,
                                 .c = sums.points.data(),
                                 .ldc = ldh_});
  kernels_.product64({.m = rows,
                      .k = r_,
                      .n = h_,
                      .a = w,
                      .lda = ld_,
                      .b = points_.data(),
                      .ldb = ldh_,
                      .c = grad_u,
                      .ldc = ldh_});
  finish_inputs(inputs, grad_u, of_rows, u, sums.lengthscale.data());
  if (grad_g != nullptr) narrow_scaled(inputs, grad_u, inverse_scale_.data(), grad_g);
}

// --- The gradient of the parameters

/// Computes dloss/dK_ZZ o K_ZZ = -1/2 (L^-T M L^-1) o K_ZZ, a symmetric matrix, into first_. M is
/// symmetric: the lower triangle of G^T Phi, mirrored.
void InducingPoints::within(const Sums& sums) {
  double *m = second_.data(), *s = first_.data();
  const double* gram = gram_.data();
  std::fill_n(m, ld_ * ld_, 0.0);
  for (int64_t i = 0; i < r_; ++i)
    for (int64_t j = 0; j <= i; ++j) m[i * ld_ + j] = m[j * ld_ + i] = sums.products.data()[i * ld_ + j];
  factor_.divide_transposed(ld_, m, division_.data());
  kernels_.transpose64(m, ld_, ld_, ld_, 1, s, ld_);
  factor_.divide_transposed(ld_, s, division_.data());
  for (int64_t i = 0; i < r_; ++i)
    for (int64_t j = i; j < r_; ++j)
      s[i * ld_ + j] = s[j * ld_ + i] = -0.5 * s[i * ld_ + j] * gram[i * ld_ + j];
}

void InducingPoints::finish(const Sums& sums, const InducingValues<float>& gradients) {
  within(sums);
  const double *s = first_.data(), *v = points_.data();
  double* grad_v = second_.data();  // [r, ldh]
  kernels_.product64(
      {.m = r_, .k = r_, .n = h_, .a = s, .lda = ld_, .b = v, .ldb = ldh_, .c = grad_v, .ldc = ldh_});
  std::vector<double> of_points(static_cast<size_t>(r_)), to_scale(static_cast<size_t>(h_));
  for (int64_t i = 0; i < r_; ++i)
    for (int64_t j = 0; j < r_; ++j) of_points[static_cast<size_t>(j)] += s[i * ld_ + j];
  double of_kernel = sums.kernel + sums.amplitude * amplitude_;
  for (int64_t i = 0; i < r_; ++i) {
    const double own = of_points[static_cast<size_t>(i)], share = sums.columns.data()[i] + 2 * own;
    of_kernel += own;
    for (int64_t j = 0; j < h_; ++j) {
      const double at = v[i * ldh_ + j],
                   grad = sums.points.data()[i * ldh_ + j] + 2 * grad_v[i * ldh_ + j] - share * at;
      to_scale[static_cast<size_t>(j)] += grad * at;
      gradients.points[i * h_ + j] += static_cast<float>(grad * inverse_scale_.data()[j]);
    }
  }
  for (int64_t j = 0; j < h_; ++j)
    gradients.log_lengthscale[j] -=
        static_cast<float>(to_scale[static_cast<size_t>(j)] + sums.lengthscale.data()[j]);
  *gradients.log_amplitude += static_cast<float>(of_kernel);
}

}  // namespace slimbayes::engine
