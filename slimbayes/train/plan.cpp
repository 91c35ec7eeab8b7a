#include "slimbayes/train/plan.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "slimbayes/core/check.h"

namespace slimbayes {

namespace {

/// The order of the rows begin, ..., begin + rows - 1 in an epoch of plan_of_windows().
class Windows {
 public:
  Windows(int64_t begin, int64_t rows, int64_t window, int64_t block, const Stream& stream)
      : begin_(begin), rows_(rows), block_(block), blocks_(window / block), stream_(stream) {
    order_ = stream_.permutation((rows + block - 1) / block);
    for (int64_t first = 0; first < order_.size(0); first += blocks_) {
      starts_.push_back(rows_so_far_);
      for (int64_t i = first; i < std::min(first + blocks_, order_.size(0)); ++i)
        rows_so_far_ += rows_of(order_[i].item<int64_t>());
    }
    starts_.push_back(rows_so_far_);
  }

  /// Returns the rows at the places low, ..., high - 1 of the order.
  at::Tensor between(int64_t low, int64_t high) {
    std::vector<at::Tensor> parts;
    for (auto w = std::ranges::upper_bound(starts_, low) - starts_.begin() - 1; low < high; ++w) {
      const auto at = static_cast<size_t>(w);
      const int64_t end = std::min(high, starts_[at + 1]);
      parts.push_back(window(w).narrow(0, low - starts_[at], end - low));
      low = end;
    }
    return parts.size() == 1 ? parts[0] : at::cat(parts);
  }

 private:
  int64_t rows_of(int64_t block) const { return std::min(block_, rows_ - block * block_); }

  /// Returns the rows of a window, shuffled.
  const at::Tensor& window(int64_t w) {
    if (w == number_) return shuffled_;
    std::vector<at::Tensor> rows;
    for (int64_t i = w * blocks_; i < std::min((w + 1) * blocks_, order_.size(0)); ++i) {
      const int64_t block = order_[i].item<int64_t>(), first = block * block_;
      rows.push_back(at::arange(begin_ + first, begin_ + first + rows_of(block), at::kLong));
    }
    const at::Tensor all = at::cat(rows);
    number_ = w;
    shuffled_ =
        all.index_select(0, stream_.split("window").split(static_cast<uint64_t>(w)).permutation(all.size(0)));
    return shuffled_;
  }

  int64_t begin_, rows_, block_, blocks_;  // blocks_: of a window
  Stream stream_;
  at::Tensor order_;  // of the blocks
  int64_t rows_so_far_ = 0;
  std::vector<int64_t> starts_;  // place of the first row of each window, and the number of rows
  int64_t number_ = -1;          // of the window in shuffled_
  at::Tensor shuffled_;
};

/// Cuts an order of rows into batches of nearly equal size.
EpochBatches cut(const at::Tensor& order, int64_t batches) {
  const int64_t rows = order.size(0);
  std::vector<at::Tensor> all;
  for (int64_t i = 0; i < batches; ++i) {
    const int64_t low = i * rows / batches, high = (i + 1) * rows / batches;
    all.push_back(order.narrow(0, low, high - low));
  }
  return all;
}

/// Returns n rows in random order, drawn by systematic sampling from the n rows with these weights. Without
/// weights, and where all are equal, each row comes once.
at::Tensor drawn_order(const at::Tensor& weights, int64_t n, const Stream& stream) {
  const at::Tensor order = stream.permutation(n);
  if (!weights.defined() || (weights == weights[0]).all().item<bool>()) return order;
  const Stream own = stream.split("weights");
  const at::Tensor other = own.permutation(n);
  at::Tensor ends = weights.index_select(0, other).cumsum(0);  // of the stretch of each row, in `other`
  ends = ends * (static_cast<double>(n) / ends[n - 1].item<double>());
  const at::Tensor marks = at::arange(n, at::kDouble) + own.split("start").uniform({1});
  const at::Tensor places = at::searchsorted(ends, marks, false, /*right=*/true).clamp_max(n - 1);
  return other.index_select(0, places).index_select(0, order);
}

}  // namespace

BatchPlan plan_of_windows(const std::vector<int64_t>& parts, int64_t batches, int64_t window, int64_t block) {
  check(parts.size() > 1 && batches > 0, "plan_of_windows", "rows and batches", "none");
  check(1 <= block && block <= window, "plan_of_windows", "a window of at least a block", "a smaller one");
  for (size_t p = 0; parts.size() > 2 && p + 1 < parts.size(); ++p)
    if (const int64_t rows = parts[p + 1] - parts[p]; rows < 2 * batches)
      refuse("fit", fmt::format("two rows of every rank in each of the {} batches of an epoch", batches),
             fmt::format("{} training rows on rank {}", rows, p),
             "start fewer ranks, or write the files in row groups of equal size");
  return [=](const Stream& stream) {
    std::vector<std::shared_ptr<Windows>> orders;
    for (size_t p = 0; p + 1 < parts.size(); ++p)
      orders.push_back(
          std::make_shared<Windows>(parts[p], parts[p + 1] - parts[p], window, block,
                                    p == 0 ? stream : stream.split("part").split(static_cast<uint64_t>(p))));
    return EpochBatches(batches, [=](int64_t i) {
      std::vector<at::Tensor> rows;
      for (size_t p = 0; p < orders.size(); ++p) {
        const int64_t n = parts[p + 1] - parts[p];
        rows.push_back(orders[p]->between(i * n / batches, (i + 1) * n / batches));
      }
      return rows.size() == 1 ? rows[0] : at::cat(rows);
    });
  };
}

BatchPlan plan_of_equal_batches(int64_t rows, int64_t batches) {
  check(rows > 0 && batches > 0, "plan_of_equal_batches", "rows and batches", "none");
  return [rows, batches](const Stream& stream) { return cut(stream.permutation(rows), batches); };
}

BatchPlan plan_of_weights(const at::Tensor& weights, int64_t batches) {
  check_shape(weights, {-1}, "plan_of_weights", "weights");
  check(weights.size(0) > 0 && batches > 0, "plan_of_weights", "rows and batches", "none");
  return [weights, batches](const Stream& stream) {
    return cut(drawn_order(weights, weights.size(0), stream), batches);
  };
}

BatchPlan plan_by_length(at::Tensor lengths, int64_t batch, const at::Tensor& weights) {
  check_shape(lengths, {-1}, "plan_by_length", "lengths");
  check(lengths.size(0) > 0 && batch > 0, "plan_by_length", "rows and a batch of at least one", "none");
  return [lengths = std::move(lengths), batch, weights](const Stream& stream) {
    constexpr int64_t kStretch = 50;  // batches per stretch that is sorted by length
    const int64_t n = lengths.size(0), stretch = kStretch * batch;
    const at::Tensor order = drawn_order(weights, n, stream);
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
    return EpochBatches(std::move(shuffled));
  };
}

}  // namespace slimbayes
