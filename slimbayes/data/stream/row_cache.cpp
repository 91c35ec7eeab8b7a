#include "slimbayes/data/stream/row_cache.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>

#include "slimbayes/core/check.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/memory.h"

namespace slimbayes {

namespace fs = std::filesystem;

namespace {

std::vector<at::Tensor> tensors_of(const Batch& rows) {
  std::vector<at::Tensor> all = rows.inputs;
  if (rows.target.defined()) all.push_back(rows.target);
  return all;
}

}  // namespace

class RowCache::Files {
  /// A file without a name. The system removes it when it is closed.
  class NamelessFile {
   public:
    explicit NamelessFile(const fs::path& folder) : folder_(folder) {
      std::string path = (folder / "slimbayes-rows-XXXXXX").string();
      descriptor_ = ::mkstemp(path.data());
      if (descriptor_ < 0) fail("a folder that can be written");
      ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);
      ::unlink(path.c_str());
    }
    ~NamelessFile() { ::close(descriptor_); }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    void write(const void* bytes, size_t count) {
      const auto* from = static_cast<const char*>(bytes);
      while (count > 0) {
        const ssize_t done = ::write(descriptor_, from, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail("room for the encoded rows");
        from += done;
        count -= static_cast<size_t>(done);
      }
    }

    void read(void* bytes, size_t count, int64_t at) const {
      auto* to = static_cast<char*>(bytes);
      while (count > 0) {
        const ssize_t done = ::pread(descriptor_, to, count, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail("encoded rows that can be read");
        to += done;
        at += done;
        count -= static_cast<size_t>(done);
      }
    }

   private:
    [[noreturn]] void fail(const char* expected) const {
      throw DataError(folder_.string(),
                      fmt::format("expected {} in the folder of `.cache`; received: {}; name another folder",
                                  expected, std::generic_category().message(errno == 0 ? EIO : errno)));
    }

    fs::path folder_;
    int descriptor_;
  };

  /// One tensor of the rows: its file, and the shape and type of a row.
  struct Part {
    std::unique_ptr<NamelessFile> file;
    std::vector<int64_t> shape;  // of a row
    at::ScalarType type;
    size_t row_bytes;
  };

 public:
  explicit Files(fs::path folder) : folder_(std::move(folder)) {}

  void add(const Batch& rows) {
    internal_check(!rows.mask.defined(), "RowCache", "rows without a mask");
    const std::vector<at::Tensor> all = tensors_of(rows);
    if (parts_.empty()) {
      has_target_ = rows.target.defined();
      for (const at::Tensor& x : all) {
        const auto numbers = x.numel() / std::max<int64_t>(1, x.size(0));
        auto file = std::make_unique<NamelessFile>(folder_);
        parts_.push_back({std::move(file), x.sizes().slice(1).vec(), x.scalar_type(),
                          static_cast<size_t>(numbers) * x.element_size()});
      }
    }
    internal_check(all.size() == parts_.size(), "RowCache", "batches of the same tensors");
    for (size_t i = 0; i < all.size(); ++i) {
      internal_check(all[i].scalar_type() == parts_[i].type && all[i].sizes().slice(1) == parts_[i].shape,
                     "RowCache", "rows of one shape and type");
      const at::Tensor x = all[i].contiguous();
      parts_[i].file->write(x.const_data_ptr(), static_cast<size_t>(x.size(0)) * parts_[i].row_bytes);
    }
    size_ += all.at(0).size(0);
  }

  int64_t size() const { return size_; }
  size_t parts() const { return parts_.size(); }
  bool has_target() const { return has_target_; }
  size_t row_bytes(size_t part) const { return parts_[part].row_bytes; }

  /// Returns an uninitialised tensor for so many rows of a part.
  at::Tensor room(size_t part, int64_t rows) const {
    std::vector<int64_t> shape = parts_[part].shape;
    shape.insert(shape.begin(), rows);
    return at::empty(shape, parts_[part].type);
  }

  at::Tensor read(size_t part, int64_t first, int64_t rows) const {
    at::Tensor x = room(part, rows);
    const size_t bytes = row_bytes(part);
    parts_[part].file->read(x.mutable_data_ptr(), static_cast<size_t>(rows) * bytes,
                            first * static_cast<int64_t>(bytes));
    return x;
  }

 private:
  fs::path folder_;
  bool has_target_ = false;
  std::vector<Part> parts_;
  int64_t size_ = 0;
};

/// The rows of the files, of which the blocks that were used last are in memory.
class RowCache::Cached : public Source {
 public:
  Cached(std::shared_ptr<const Files> files, OnDisk disk)
      : files_(std::move(files)), disk_(std::move(disk)) {}

  int64_t size() const override { return disk_.parts.back(); }
  std::optional<OnDisk> on_disk() const override { return disk_; }

  Batch rows(const at::Tensor& indices, const RowContext&) const override {
    const at::Tensor places = (indices.to(at::kLong) - disk_.first()).contiguous();
    const auto* at = places.const_data_ptr<int64_t>();
    const int64_t count = places.size(0);
    std::vector<at::Tensor> out;
    for (size_t i = 0; i < files_->parts(); ++i) out.push_back(files_->room(i, count));
    std::vector<int64_t> order(static_cast<size_t>(count));  // by block, so that each is found once
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [at](int64_t k) { return at[k] / kBlock; });
    const std::scoped_lock held(lock_);
    const Block* block = nullptr;
    int64_t number = -1;
    for (const int64_t k : order) {
      if (!(0 <= at[k] && at[k] < files_->size())) throw std::invalid_argument(out_of_range(at[k]));
      if (at[k] / kBlock != number) {
        number = at[k] / kBlock;
        block = &block_of(number);
      }
      for (size_t i = 0; i < out.size(); ++i) {
        const size_t bytes = files_->row_bytes(i);
        const auto row = static_cast<size_t>(at[k] % kBlock);
        std::memcpy(static_cast<char*>(out[i].mutable_data_ptr()) + static_cast<size_t>(k) * bytes,
                    static_cast<const char*>(block->parts[i].const_data_ptr()) + row * bytes, bytes);
      }
    }
    Batch batch;
    if (files_->has_target()) {
      batch.target = out.back();
      out.pop_back();
    }
    batch.inputs = std::move(out);
    return batch;
  }

 private:
  struct Block {
    std::vector<at::Tensor> parts;
    int64_t used = 0;
  };

  std::string out_of_range(int64_t index) const {
    return fmt::format(
        "[RowCache] expected row indices from {} to {}; received {}; indices belong to one "
        "source",
        disk_.first(), disk_.end() - 1, disk_.first() + index);
  }

  const Block& block_of(int64_t number) const {
    auto found = blocks_.find(number);
    if (found == blocks_.end()) {
      if (std::ssize(blocks_) >= 2 * disk_.window / kBlock)
        blocks_.erase(std::ranges::min_element(blocks_, {}, [](const auto& b) { return b.second.used; }));
      const int64_t first = number * kBlock, rows = std::min(kBlock, files_->size() - first);
      Block block;
      for (size_t i = 0; i < files_->parts(); ++i) block.parts.push_back(files_->read(i, first, rows));
      found = blocks_.emplace(number, std::move(block)).first;
    }
    found->second.used = ++uses_;
    return found->second;
  }

  std::shared_ptr<const Files> files_;
  OnDisk disk_;
  mutable std::mutex lock_;  // of what follows
  mutable std::map<int64_t, Block> blocks_;
  mutable int64_t uses_ = 0;
};

RowCache::RowCache(const fs::path& folder, int64_t rows, int64_t row_bytes)
    : files_(std::make_shared<Files>(folder)) {
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  if (failed)
    throw DataError(folder.string(),
                    fmt::format("expected a folder for `.cache`; received: {}; create it", failed.message()));
  const auto needed = static_cast<uint64_t>(rows) * static_cast<uint64_t>(row_bytes);
  if (space.available < needed)
    throw DataError(
        folder.string(),
        fmt::format("expected room for {} of encoded rows in the folder of `.cache`; received {}; "
                    "name a folder on a larger disk, or use fewer columns",
                    bytes_text(needed), bytes_text(space.available)));
}

RowCache::~RowCache() = default;

void RowCache::add(const Batch& rows) { files_->add(rows); }

int64_t RowCache::size() const { return files_->size(); }

std::shared_ptr<const Source> RowCache::source(int64_t window, const std::vector<int64_t>& rows_of,
                                               int64_t own) {
  Source::OnDisk disk{kBlock, std::max(window, kBlock), {0}, own};
  for (const int64_t rows : rows_of.empty() ? std::vector{size()} : rows_of)
    disk.parts.push_back(disk.parts.back() + rows);
  internal_check(disk.end() - disk.first() == size(), "RowCache", "another number of own rows");
  return std::make_shared<Cached>(files_, std::move(disk));
}

}  // namespace slimbayes
