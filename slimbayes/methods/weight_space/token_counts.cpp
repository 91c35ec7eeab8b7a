#include "slimbayes/methods/weight_space/token_counts.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/device.h"
#include "slimbayes/method/batches.h"

namespace slimbayes {

TokenCounts::TokenCounts(const Dataset& rows, int64_t vocabulary)
    : vocabulary_(vocabulary),
      first_{0},
      weights_(at::ones({vocabulary}, at::dtype(at::kFloat).device(rows.device()))) {
  over_batches(rows, {}, [&](const Batch& batch) {
    const at::Tensor x = on_cpu(batch.inputs.at(0)).contiguous();
    const at::Tensor mask =
        batch.mask.defined() ? on_cpu(batch.mask).contiguous() : at::ones_like(x, at::kBool);
    for (int64_t row = 0; row < x.size(0); ++row) {
      const auto* token = x.const_data_ptr<int64_t>() + row * x.size(1);
      const auto* there = mask.const_data_ptr<bool>() + row * x.size(1);
      const auto begin = static_cast<std::ptrdiff_t>(tokens_.size());
      for (int64_t t = 0; t < x.size(1); ++t)
        if (there[t]) tokens_.push_back(token[t]);
      std::sort(tokens_.begin() + begin, tokens_.end());
      tokens_.erase(std::unique(tokens_.begin() + begin, tokens_.end()), tokens_.end());
      first_.push_back(static_cast<int64_t>(tokens_.size()));
    }
  });
}

at::Tensor TokenCounts::unseen() const {
  std::vector<bool> seen(static_cast<size_t>(vocabulary_));
  for (const int64_t token : tokens_) seen[static_cast<size_t>(token)] = true;
  std::vector<int64_t> none;
  for (int64_t token = 0; token < vocabulary_; ++token)
    if (!seen[static_cast<size_t>(token)]) none.push_back(token);
  return at::tensor(none, at::kLong);
}

void TokenCounts::count(const EpochBatches& batches) {
  std::vector<int64_t> count(static_cast<size_t>(vocabulary_));     // c of each token
  std::vector<int64_t> last(static_cast<size_t>(vocabulary_), -1);  // the latest batch with the token
  for (int64_t number = 0; number < batches.size(); ++number) {
    const at::Tensor rows = batches[number].contiguous();
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const auto row = static_cast<size_t>(rows.const_data_ptr<int64_t>()[i]);
      for (int64_t k = first_[row]; k < first_[row + 1]; ++k) {
        const auto token = static_cast<size_t>(tokens_[static_cast<size_t>(k)]);
        if (last[token] == number) continue;
        last[token] = number;
        ++count[token];
      }
    }
  }
  at::Tensor weights = at::ones({vocabulary_}, at::kFloat);
  auto* out = weights.mutable_data_ptr<float>();
  for (size_t token = 0; token < count.size(); ++token)
    if (const int64_t c = count[token]; c > 0)
      out[token] = static_cast<float>(static_cast<double>(batches.size()) / static_cast<double>(c));
  weights_ = on_device(weights, weights_.device());
}

at::Tensor TokenCounts::row_weights(const at::Tensor& tokens) const {
  return weights_.index_select(0, tokens);
}

}  // namespace slimbayes
