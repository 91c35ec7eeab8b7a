#include "slimbayes/engine/tape.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace slimbayes::engine {

void Floats::Free::operator()(float* floats) const { std::free(floats); }

void Floats::reserve(int64_t count) {
  if (count <= size_) return;
  const auto bytes = static_cast<size_t>(kernels::padded(count)) * sizeof(float);
  data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
  if (!data_) throw std::bad_alloc();
  size_ = count;
}

Tape::Tape(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels)
    : plan_(std::move(plan)), kernels_(kernels) {
  packed_.reserve(plan_->packed_floats());
}

void Tape::pack(std::span<const float* const> values) { plan_->pack(kernels_, values, packed_.data()); }

void Tape::forward(const float* x, int64_t ldx, int64_t rows, float* y, int64_t ldy, bool keep) {
  const int64_t chunks = (rows + kChunkRows - 1) / kChunkRows, size = plan_->tape_floats(),
                width = plan_->outputs();
  tape_.reserve(keep ? chunks * size : size);
  rows_ = keep ? rows : 0;
  for (int64_t c = 0; c < chunks; ++c) {
    const int64_t first = c * kChunkRows, count = std::min(kChunkRows, rows - first);
    const float* out = plan_->forward(kernels_, packed_.data(), x + first * ldx, ldx, count,
                                      tape_.data() + (keep ? c * size : 0));
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(out + i * kernels::padded(width), width, y + (first + i) * ldy);
  }
}

void Tape::backward(const float* g, int64_t ldg, std::span<float* const> gradients) {
  const int64_t size = plan_->tape_floats(), width = plan_->outputs(), ld = kernels::padded(width);
  work_.reserve(plan_->work_floats());
  float* gradient = work_.data();
  for (int64_t first = 0; first < rows_; first += kChunkRows) {
    const int64_t count = std::min(kChunkRows, rows_ - first);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(g + (first + i) * ldg, width, gradient + i * ld);
      std::fill(gradient + i * ld + width, gradient + (i + 1) * ld, 0.0F);
    }
    plan_->backward(kernels_, packed_.data(), count, tape_.data() + first / kChunkRows * size, work_.data(),
                    gradients);
  }
}

}  // namespace slimbayes::engine
