#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "slimbayes/data/dataset.h"
#include "slimbayes/train/collective.h"

namespace slimbayes {

/// Rows in memory that behave as rows on disk (RowCache), with small blocks. Throws std::logic_error if a
/// call asks for the rows of more than two windows, or if blocks are read from disk again and again: it keeps
/// the blocks that RowCache would keep, and counts those that it would read. With ranks each of them has a
/// part of the rows, and may ask for no other.
class DiskSource : public Source {
 public:
  static constexpr int64_t kBlock = 256, kWindow = 2048;

  explicit DiskSource(std::shared_ptr<const Source> rows, const Collective* ranks = nullptr)
      : rows_(std::move(rows)), disk_{kBlock, kWindow, {0}, ranks == nullptr ? 0 : ranks->rank()} {
    const int64_t parts = ranks == nullptr ? 1 : ranks->size();
    for (int64_t p = 1; p < parts; ++p) disk_.parts.push_back(p * size() / (parts + 1));  // of unequal size
    disk_.parts.push_back(size());
  }

  int64_t size() const override { return rows_->size(); }
  std::optional<OnDisk> on_disk() const override { return disk_; }

  Batch rows(const at::Tensor& indices, const RowContext& context) const override {
    const std::scoped_lock held(lock_);
    if (indices.size(0) > 2 * kWindow)
      throw std::logic_error("a call for " + std::to_string(indices.size(0)) + " rows");
    if (indices.min().item<int64_t>() < disk_.first() || indices.max().item<int64_t>() >= disk_.end())
      throw std::logic_error("rows of another rank");
    asked_ += indices.size(0);
    const at::Tensor places = indices.contiguous();
    std::set<int64_t> blocks;
    for (int64_t i = 0; i < places.size(0); ++i) blocks.insert(places.const_data_ptr<int64_t>()[i] / kBlock);
    for (const int64_t block : blocks) touch(block);
    // Twice the rows, for blocks of which a window has a part, and some passes that draw few of the rows.
    if (read_ * kBlock > 2 * asked_ + 8 * size())
      throw std::logic_error(std::to_string(read_) + " blocks read for " + std::to_string(asked_) + " rows");
    return rows_->rows(indices, context);
  }

 private:
  void touch(int64_t block) const {
    const auto found = std::ranges::find(kept_, block);
    if (found != kept_.end())
      kept_.erase(found);
    else
      ++read_;
    kept_.push_back(block);
    if (std::ssize(kept_) > 2 * kWindow / kBlock) kept_.pop_front();
  }

  std::shared_ptr<const Source> rows_;
  OnDisk disk_;
  mutable std::mutex lock_;               // of what follows
  mutable std::list<int64_t> kept_;       // blocks, the one used last at the end
  mutable int64_t asked_ = 0, read_ = 0;  // rows, and blocks
};

/// Returns the rows as rows on disk, of which every rank has a part.
inline Dataset on_disk(const Dataset& rows, const Collective* ranks = nullptr) {
  return {rows.schema, std::make_shared<DiskSource>(rows.source, ranks)};
}

}  // namespace slimbayes
