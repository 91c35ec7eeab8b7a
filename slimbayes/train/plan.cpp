#include "slimbayes/train/plan.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "slimbayes/core/check.h"

namespace slimbayes {

BatchPlan plan_of_equal_batches(int64_t rows, int64_t batches) {
  check(rows > 0 && batches > 0, "plan_of_equal_batches", "rows and batches", "none");
  return [rows, batches](const Stream& stream) {
    const at::Tensor order = stream.permutation(rows);
    std::vector<at::Tensor> all;
    for (int64_t i = 0; i < batches; ++i) {
      const int64_t low = i * rows / batches, high = (i + 1) * rows / batches;
      all.push_back(order.narrow(0, low, high - low));
    }
    return all;
  };
}

BatchPlan plan_by_length(at::Tensor lengths, int64_t batch) {
  check_shape(lengths, {-1}, "plan_by_length", "lengths");
  check(lengths.size(0) > 0 && batch > 0, "plan_by_length", "rows and a batch of at least one", "none");
  return [lengths = std::move(lengths), batch](const Stream& stream) {
    constexpr int64_t kStretch = 50;  // batches per stretch that is sorted by length
    const int64_t n = lengths.size(0), stretch = kStretch * batch;
    const at::Tensor order = stream.permutation(n);
    std::vector<at::Tensor> sorted;
    for (int64_t low = 0; low < n; low += stretch) {
      const at::Tensor some = order.narrow(0, low, std::min(stretch, n - low));
      const at::Tensor by_length = std::get<1>(
          at::sort(lengths.index_select(0, some), /*stable=*/true, /*dim=*/0, /*descending=*/false));
      sorted.push_back(some.index_select(0, by_length));
    }
    const at::Tensor rows = at::cat(sorted);
    std::vector<at::Tensor> batches;
    for (int64_t low = 0; low < n; low += batch)
      batches.push_back(rows.narrow(0, low, std::min(batch, n - low)));
    const at::Tensor places = stream.split("batches").permutation(std::ssize(batches));
    std::vector<at::Tensor> shuffled;
    for (int64_t i = 0; i < places.size(0); ++i)
      shuffled.push_back(batches[static_cast<size_t>(places[i].item<int64_t>())]);
    return shuffled;
  };
}

}  // namespace slimbayes
