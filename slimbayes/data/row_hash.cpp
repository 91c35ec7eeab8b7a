#include "slimbayes/data/row_hash.h"

#include <ATen/ATen.h>

#include <algorithm>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace slimbayes {

std::vector<int64_t> row_hashes(const Dataset& data) {
  constexpr int64_t kBatchRows = 1024;
  std::vector<int64_t> hashes;
  for (int64_t low = 0; low < data.size(); low += kBatchRows) {
    const Batch batch = data.rows(at::arange(low, std::min(low + kBatchRows, data.size())));
    const int64_t b = batch.inputs.at(0).size(0);
    std::vector<uint64_t> seeds(static_cast<size_t>(b), 0);
    const auto mix = [&](const at::Tensor& rows, const at::Tensor& lengths) {
      const at::Tensor x = rows.reshape({b, -1}).contiguous();
      const auto* bytes = static_cast<const char*>(x.const_data_ptr());
      const auto width = static_cast<size_t>(x.size(1) * x.element_size());
      for (int64_t i = 0; i < b; ++i) {
        const size_t used =
            lengths.defined() ? static_cast<size_t>(lengths[i].item<int64_t>() * x.element_size()) : width;
        uint64_t& seed = seeds[static_cast<size_t>(i)];
        seed = XXH3_64bits_withSeed(bytes + static_cast<size_t>(i) * width, used, seed);
      }
    };
    const at::Tensor lengths = batch.mask.defined() ? batch.mask.sum(1) : at::Tensor();
    for (const at::Tensor& input : batch.inputs) mix(input, lengths);
    if (batch.target.defined()) mix(batch.target, {});
    for (uint64_t seed : seeds) hashes.push_back(static_cast<int64_t>(seed));
  }
  return hashes;
}

uint64_t hash_of_rows(const std::vector<int64_t>& hashes) {
  return XXH3_64bits(hashes.data(), hashes.size() * sizeof(int64_t));
}

uint64_t rows_hash(const Dataset& data) { return hash_of_rows(row_hashes(data)); }

}  // namespace slimbayes
