// The bound where Arrow's memory is asked for: no estimate of a packed file's size is as good, and a damaged one claims any.
#include "slimbayes/data/table_pool.h"

#include <utility>

namespace slimbayes {

TablePool::TablePool(const TableBound& bound, uint64_t taken, std::string source)
    : arrow::ProxyMemoryPool(arrow::default_memory_pool()),
      bound_(bound),
      taken_(taken),
      source_(std::move(source)) {}

arrow::Status TablePool::room_for(int64_t more) {
  if (more <= 0) return arrow::Status::OK();
  const uint64_t own = static_cast<uint64_t>(bytes_allocated()) + static_cast<uint64_t>(more);
  if (own <= bound_.unpacked && taken_ + own <= bound_.memory) return arrow::Status::OK();
  refused_ = own;
  return arrow::Status::OutOfMemory("the bound of the table");
}

arrow::Status TablePool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(room_for(size));
  return ProxyMemoryPool::Allocate(size, alignment, out);
}

arrow::Status TablePool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) {
  ARROW_RETURN_NOT_OK(room_for(new_size - old_size));
  return ProxyMemoryPool::Reallocate(old_size, new_size, alignment, ptr);
}

void TablePool::check(const arrow::Status& status) const {
  if (status.ok()) return;
  if (refused_ > 0) {
    bound_.check(taken_ + refused_, source_);
    bound_.check_unpacked(refused_, source_);
  }
  if (status.IsOutOfMemory()) throw_out_of_memory(source_);
}

}  // namespace slimbayes
