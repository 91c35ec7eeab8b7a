#include "slimbayes/engine/feature_pass.h"

#include <algorithm>

namespace slimbayes::engine {

using kernels::padded;
using kernels::Rows;

FeaturePass::FeaturePass(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels)
    : plan_(std::move(plan)),
      kernels_(kernels),
      rank_(plan_->outputs()),
      ld_(padded(rank_)),
      wide_(kChunkRows * ld_),
      result_(kChunkRows * ld_),
      lower_(rank_ * ld_),
      factor_(rank_ * ld_) {
  packed_.reserve(plan_->packed_floats());
  work_.reserve(plan_->work_floats());
}

FeatureSums FeaturePass::forward(std::span<const float* const> values, const float* x, const double* y,
                                 int64_t rows, bool squares) {
  const int64_t chunks = (rows + kChunkRows - 1) / kChunkRows, d = plan_->inputs();
  rows_ = rows;
  plan_->pack(kernels_, values, packed_.data());
  tape_.reserve(chunks * plan_->tape_floats(/*keep=*/true));
  outputs_.resize(static_cast<size_t>(chunks));
  double *wide = wide_.data(), *lower = lower_.data();
  std::fill_n(lower, rank_ * ld_, 0.0);
  std::vector<double> of_targets(static_cast<size_t>(2 * ld_)), targets(2 * kChunkRows), square(kChunkRows);
  FeatureSums sums;
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t first = c * kChunkRows, count = std::min(kChunkRows, rows - first);
    const Rows at{count, rank_, ld_};
    const float* phi =
        plan_->forward(kernels_, packed_.data(), x + first * d, d, count, tape_of(c), /*keep=*/true);
    outputs_[static_cast<size_t>(c)] = phi;
    kernels_.widen(at, phi, nullptr, nullptr, wide);
    kernels_.transposed_product64({.m = count,
                                   .k = rank_,
                                   .n = rank_,
                                   .a = wide,
                                   .lda = ld_,
                                   .b = wide,
                                   .ldb = ld_,
                                   .c = lower,
                                   .ldc = ld_,
                                   .triangle = kernels::Triangle::lower});
    for (int64_t i = 0; i < count; ++i) {
      targets[2 * i] = y[first + i];
      targets[2 * i + 1] = 1;
    }
    kernels_.transposed_product64({.m = count,
                                   .k = 2,
                                   .n = rank_,
                                   .a = targets.data(),
                                   .lda = 2,
                                   .b = wide,
                                   .ldb = ld_,
                                   .c = of_targets.data(),
                                   .ldc = ld_});
    if (!squares) continue;
    kernels_.row_squares64(at, wide, square.data());
    for (int64_t i = 0; i < count; ++i) {
      sums.prior_var += square[i];
      if (first + i == 0 || square[i] > sums.largest) {
        sums.largest = square[i];
        sums.largest_row = first + i;
      }
    }
  }
  sums.gram.resize(static_cast<size_t>(rank_ * rank_));
  for (int64_t i = 0; i < rank_; ++i)
    for (int64_t j = 0; j <= i; ++j) sums.gram[i * rank_ + j] = sums.gram[j * rank_ + i] = lower[i * ld_ + j];
  sums.with_y.assign(of_targets.begin(), of_targets.begin() + rank_);
  sums.with_ones.assign(of_targets.begin() + ld_, of_targets.begin() + ld_ + rank_);
  return sums;
}

void FeaturePass::backward(const FeatureGradient& gradient, const double* y,
                           std::span<float* const> gradients) {
  double *wide = wide_.data(), *result = result_.data(), *factor = factor_.data();
  std::vector<double> with_y(static_cast<size_t>(ld_)), with_ones(static_cast<size_t>(ld_));
  std::ranges::copy(gradient.with_y, with_y.begin());
  std::ranges::copy(gradient.with_ones, with_ones.begin());
  std::fill_n(factor, rank_ * ld_, 0.0);
  for (int64_t i = 0; i < rank_; ++i)
    std::ranges::copy(gradient.gram.subspan(static_cast<size_t>(i * rank_), static_cast<size_t>(rank_)),
                      factor + i * ld_);
  for (int64_t first = 0, c = 0; first < rows_; first += kChunkRows, ++c) {
    const int64_t count = std::min(kChunkRows, rows_ - first);
    kernels_.widen({count, rank_, ld_}, outputs_[static_cast<size_t>(c)], nullptr, nullptr, wide);
    kernels_.product64({.m = count,
                        .k = rank_,
                        .n = rank_,
                        .a = wide,
                        .lda = ld_,
                        .b = factor,
                        .ldb = ld_,
                        .c = result,
                        .ldc = ld_,
                        .bias = with_ones.data()});
    const int64_t extra = gradient.extra == 0 ? -1 : gradient.extra_row - first;
    if (extra >= 0 && extra < count)
      for (int64_t j = 0; j < rank_; ++j) result[extra * ld_ + j] += gradient.extra * wide[extra * ld_ + j];
    float* g = work_.data();
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < ld_; ++j)
        g[i * ld_ + j] = static_cast<float>(result[i * ld_ + j] + y[first + i] * with_y[j]);
    plan_->backward(kernels_, packed_.data(), count, tape_of(c), g, gradients);
  }
}

}  // namespace slimbayes::engine
