#pragma once

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <string>

#include "slimbayes/data/table_limits.h"

namespace slimbayes {

/// Arrow's memory for one table, up to the table's bound. It must outlive what was allocated from it.
class TablePool : public arrow::ProxyMemoryPool {
 public:
  /// `taken`: bytes that the table takes beside this pool.
  TablePool(const TableBound& bound, uint64_t taken, std::string source);

  using arrow::ProxyMemoryPool::Allocate;
  using arrow::ProxyMemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;

  /// Throws for a failure that is one of memory: as TableBound::check_unpacked() where the bound refused, else OutOfMemory.
  void check(const arrow::Status& status) const;

 private:
  arrow::Status room_for(int64_t more);

  TableBound bound_;
  uint64_t taken_;
  std::string source_;
  std::atomic<uint64_t> refused_{0};
};

}  // namespace slimbayes
