#include "slimbayes/engine/feature_pass.h"

#include <algorithm>

namespace slimbayes::engine {

using kernels::padded;

FeaturePass::FeaturePass(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels)
    : plan_(std::move(plan)),
      kernels_(kernels),
      rank_(plan_->outputs()),
      ld_(padded(rank_ + 2)),
      wide_(static_cast<size_t>(kChunkRows * ld_)),
      result_(static_cast<size_t>(kChunkRows * ld_)) {
  packed_.reserve(plan_->packed_floats());
  work_.reserve(plan_->work_floats());
}

void FeaturePass::widen(const float* phi, const double* y, int64_t count) {
  const int64_t from = padded(rank_);
  for (int64_t i = 0; i < count; ++i) {
    double* row = wide_.data() + i * ld_;
    std::copy_n(phi + i * from, rank_, row);
    row[rank_] = y[i];
    row[rank_ + 1] = 1;
  }
}

FeatureSums FeaturePass::forward(std::span<const float* const> values, const float* x, const double* y,
                                 int64_t rows, bool squares) {
  const int64_t chunks = (rows + kChunkRows - 1) / kChunkRows, d = plan_->inputs();
  rows_ = rows;
  plan_->pack(kernels_, values, packed_.data());
  tape_.reserve(chunks * plan_->tape_floats());
  outputs_.resize(static_cast<size_t>(chunks));
  // The rows of `lower` are those of Phi^T Phi, then Phi^T y and Phi^T 1.
  std::vector<double> lower(static_cast<size_t>((rank_ + 2) * ld_));
  FeatureSums sums;
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t first = c * kChunkRows, count = std::min(kChunkRows, rows - first);
    const float* phi = plan_->forward(kernels_, packed_.data(), x + first * d, d, count, tape_of(c));
    outputs_[static_cast<size_t>(c)] = phi;
    widen(phi, y + first, count);
    kernels_.transposed_product64({.m = count,
                                   .k = rank_ + 2,
                                   .n = rank_,
                                   .a = wide_.data(),
                                   .lda = ld_,
                                   .b = wide_.data(),
                                   .ldb = ld_,
                                   .c = lower.data(),
                                   .ldc = ld_,
                                   .triangle = kernels::Triangle::lower});
    for (int64_t i = 0; squares && i < count; ++i) {
      double square = 0;
      for (int64_t j = 0; j < rank_; ++j) square += wide_[i * ld_ + j] * wide_[i * ld_ + j];
      sums.prior_var += square;
      if (first + i == 0 || square > sums.largest) {
        sums.largest = square;
        sums.largest_row = first + i;
      }
    }
  }
  sums.gram.resize(static_cast<size_t>(rank_ * rank_));
  for (int64_t i = 0; i < rank_; ++i)
    for (int64_t j = 0; j <= i; ++j) sums.gram[i * rank_ + j] = sums.gram[j * rank_ + i] = lower[i * ld_ + j];
  const auto row = [&](int64_t i) { return lower.begin() + i * ld_; };
  sums.with_y.assign(row(rank_), row(rank_) + rank_);
  sums.with_ones.assign(row(rank_ + 1), row(rank_ + 1) + rank_);
  return sums;
}

void FeaturePass::backward(const FeatureGradient& gradient, const double* y,
                           std::span<float* const> gradients) {
  const int64_t wide = padded(rank_);
  std::vector<double> factor(static_cast<size_t>((rank_ + 2) * wide));
  for (int64_t i = 0; i < rank_; ++i)
    std::copy_n(gradient.gram.begin() + i * rank_, rank_, factor.begin() + i * wide);
  std::copy_n(gradient.with_y.begin(), rank_, factor.begin() + rank_ * wide);
  std::copy_n(gradient.with_ones.begin(), rank_, factor.begin() + (rank_ + 1) * wide);
  for (int64_t first = 0, c = 0; first < rows_; first += kChunkRows, ++c) {
    const int64_t count = std::min(kChunkRows, rows_ - first);
    widen(outputs_[static_cast<size_t>(c)], y + first, count);
    kernels_.product64({.m = count,
                        .k = rank_ + 2,
                        .n = rank_,
                        .a = wide_.data(),
                        .lda = ld_,
                        .b = factor.data(),
                        .ldb = wide,
                        .c = result_.data(),
                        .ldc = wide});
    const int64_t extra = gradient.extra == 0 ? -1 : gradient.extra_row - first;
    if (extra >= 0 && extra < count)
      for (int64_t j = 0; j < rank_; ++j)
        result_[extra * wide + j] += gradient.extra * wide_[extra * ld_ + j];
    float* g = work_.data();
    for (int64_t i = 0; i < count * wide; ++i) g[i] = static_cast<float>(result_[i]);
    plan_->backward(kernels_, packed_.data(), count, tape_of(c), g, gradients);
  }
}

}  // namespace slimbayes::engine
