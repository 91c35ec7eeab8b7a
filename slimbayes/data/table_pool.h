#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <string>

#include "slimbayes/data/table_limits.h"

namespace slimbayes {

/// Arrow's memory for one table, up to the table's bound. It throws std::bad_alloc where there is no more,
/// and must outlive what was allocated from it.
class TablePool : public arrow::ProxyMemoryPool {
 public:
  /// `taken`: bytes that the table takes beside this pool.
  TablePool(const TableBound& bound, uint64_t taken, std::string source);

  using arrow::ProxyMemoryPool::Allocate;
  using arrow::ProxyMemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;

  /// Reports a failed allocation. If this pool refused it because of the bound, throws as
  /// TableBound::check_unpacked() does; if the operating system refused it, throws OutOfMemory.
  [[noreturn]] void throw_shortage() const;

  /// Throws for a failure that is not the file's: as throw_shortage(), or std::system_error for a thread that
  /// could not be started.
  void check(const arrow::Status& status) const;

 private:
  void check_room(int64_t more);

  TableBound bound_;
  uint64_t taken_;
  std::string source_;
  std::atomic<uint64_t> refused_{0};
};

}  // namespace slimbayes
