#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <string>

#include "slimbayes/data/table/limits.h"

namespace slimbayes {

/// The memory pool from which Arrow allocates while one table is read. An allocation beyond the table's
/// bound, or one that the system refuses, throws std::bad_alloc. The pool must outlive everything that was
/// allocated from it.
class TablePool : public arrow::ProxyMemoryPool {
 public:
  /// `taken`: bytes that reading takes outside this pool, such as the text of the file; they count towards
  /// bound.memory. `source`: the file's path, for messages.
  TablePool(const TableBound& bound, uint64_t taken, std::string source);

  using arrow::ProxyMemoryPool::Allocate;
  using arrow::ProxyMemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;

  /// Throws the error for an allocation that failed with std::bad_alloc. If this pool refused it because of
  /// the bound, throws as TableBound::check_unpacked() does; if the operating system refused it, OutOfMemory.
  [[noreturn]] void throw_shortage() const;

  /// Throws as throw_shortage() if `status` reports a lack of memory. Returns for success and for any other
  /// failure, which the caller must handle.
  void check(const arrow::Status& status) const;

 private:
  void check_room(int64_t more);

  TableBound bound_;
  uint64_t taken_;
  std::string source_;
  uint64_t refused_ = 0;
};

}  // namespace slimbayes
