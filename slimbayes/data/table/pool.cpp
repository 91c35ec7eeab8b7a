// Limits the memory of a table where Arrow allocates it. An estimate from the size of a compressed file would
// be less exact, and a damaged file can claim any size. The memory comes from the system's allocator, so that
// tensors can use it after its release; Arrow's own allocator would keep it. A lack of memory is thrown as an
// exception, because parts of Arrow end the process when an allocation returns a failed Status. No exception
// can pass through Arrow's threads, so tables are read without them.
#include "slimbayes/data/table/pool.h"

#include <new>
#include <utility>

namespace slimbayes {

TablePool::TablePool(const TableBound& bound, uint64_t taken, std::string source)
    : arrow::ProxyMemoryPool(arrow::system_memory_pool()),
      bound_(bound),
      taken_(taken),
      source_(std::move(source)) {}

void TablePool::check_room(int64_t more) {
  if (more <= 0) return;
  const uint64_t own = static_cast<uint64_t>(bytes_allocated()) + static_cast<uint64_t>(more);
  if (own <= bound_.unpacked && taken_ + own <= bound_.memory) return;
  refused_ = own;
  throw std::bad_alloc();
}

arrow::Status TablePool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  check_room(size);
  arrow::Status status = ProxyMemoryPool::Allocate(size, alignment, out);
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  return status;
}

arrow::Status TablePool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) {
  check_room(new_size - old_size);
  arrow::Status status = ProxyMemoryPool::Reallocate(old_size, new_size, alignment, ptr);
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  return status;
}

void TablePool::throw_shortage() const {
  if (refused_ > 0) {
    bound_.check(taken_ + refused_, source_);
    bound_.check_unpacked(refused_, source_);
  }
  throw_out_of_memory(source_);
}

void TablePool::check(const arrow::Status& status) const {
  if (status.IsOutOfMemory()) throw_shortage();
}

}  // namespace slimbayes
