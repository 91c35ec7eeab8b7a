#include "slimbayes/engine/tape.h"

#include <algorithm>

namespace slimbayes::engine {

Tape::Tape(std::shared_ptr<const Plan> plan, const kernels::Kernels& kernels)
    : plan_(std::move(plan)), kernels_(kernels) {
  packed_.reserve(plan_->packed_floats());
}

void Tape::pack(std::span<const float* const> values) { plan_->pack(kernels_, values, packed_.data()); }

void Tape::forward(const float* x, int64_t ldx, int64_t rows, float* y, int64_t ldy, bool keep,
                   DropoutFactors factors, const Parallel& parallel) {
  const int64_t size = plan_->tape_floats(keep), width = plan_->outputs();
  const auto pass = [&](const PartRows& part, int64_t chunk_size) {
    float* tape = tape_.data() + part.chunk * chunk_size;
    for (int64_t done = 0; done < part.rows; done += kChunkRows, tape += chunk_size) {
      const int64_t first = part.first + done, count = std::min(kChunkRows, part.rows - done);
      const float* out =
          plan_->forward(kernels_, packed_.data(), x + first * ldx, ldx, count, tape, keep, factors, first);
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(out + i * kernels::padded(width), width, y + (first + i) * ldy);
    }
  };
  parts_.clear();
  if (!keep) {
    tape_.reserve(size);
    return pass({0, rows, 0}, 0);
  }
  parts_ = parts_of(rows, kChunkRows);
  if (parts_.empty()) return;
  tape_.reserve((parts_.back().chunk + (parts_.back().rows + kChunkRows - 1) / kChunkRows) * size);
  over_parts(std::ssize(parts_), parallel, [&](int64_t p) { pass(parts_[static_cast<size_t>(p)], size); });
}

void Tape::backward(const float* g, int64_t ldg, std::span<float* const> gradients,
                    const Parallel& parallel) {
  const int64_t size = plan_->tape_floats(/*keep=*/true), width = plan_->outputs(),
                ld = kernels::padded(width);
  int64_t all = 0;
  for (const int64_t each : plan_->sizes()) all += each;
  while (works_.size() < parts_.size()) {
    works_.emplace_back(plan_->work_floats());
    gradients_.emplace_back(gradients_.empty() ? 0 : all);
  }
  /// Returns where a part adds the gradients.
  const auto places = [&](size_t p) {
    std::vector<float*> to(gradients.begin(), gradients.end());
    float* next = gradients_[p].data();
    for (size_t i = 0; p > 0 && i < to.size(); next += plan_->sizes()[i++])
      if (to[i] != nullptr) to[i] = next;
    return to;
  };
  over_parts(std::ssize(parts_), parallel, [&](int64_t part) {
    const auto p = static_cast<size_t>(part);
    const PartRows& at = parts_[p];
    float* gradient = works_[p].data();
    const std::vector<float*> to = places(p);
    if (p > 0) std::fill_n(gradients_[p].data(), all, 0.0F);
    for (int64_t done = 0, c = at.chunk; done < at.rows; done += kChunkRows, ++c) {
      const int64_t first = at.first + done, count = std::min(kChunkRows, at.rows - done);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(g + (first + i) * ldg, width, gradient + i * ld);
        std::fill(gradient + i * ld + width, gradient + (i + 1) * ld, 0.0F);
      }
      plan_->backward(kernels_, packed_.data(), count, tape_.data() + c * size, gradient, to);
    }
  });
  for (size_t p = 1; p < parts_.size(); ++p) {
    const std::vector<float*> from = places(p);
    for (size_t i = 0; i < from.size(); ++i)
      for (int64_t j = 0; from[i] != nullptr && j < plan_->sizes()[i]; ++j) gradients[i][j] += from[i][j];
  }
}

}  // namespace slimbayes::engine
