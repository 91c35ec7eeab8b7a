#include "slimbayes/engine/parallel.h"

namespace slimbayes::engine {

std::vector<PartRows> parts_of(int64_t rows, int64_t chunk_rows) {
  const int64_t count = (rows + kPartRows - 1) / kPartRows;
  std::vector<PartRows> parts;
  int64_t first = 0, chunk = 0;
  for (int64_t p = 1; p <= count; ++p) {
    const int64_t size = rows * p / count - first;
    parts.push_back({first, size, chunk});
    first += size;
    chunk += (size + chunk_rows - 1) / chunk_rows;
  }
  return parts;
}

void over_parts(int64_t parts, const Parallel& parallel, const std::function<void(int64_t part)>& job) {
  if (parallel && parts > 1) return parallel(parts, job);
  for (int64_t p = 0; p < parts; ++p) job(p);
}

}  // namespace slimbayes::engine
