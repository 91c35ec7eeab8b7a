#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace slimbayes::engine {

// The gradient of a batch is a sum over its rows. It has the same bits for any number of threads, because the
// batch is cut into parts that depend on its size alone, and the sums of the parts are added in their order.

/// Runs job(0), ..., job(count - 1), in any order and on any threads, and returns when all have run. An empty
/// function stands for one job after another on the calling thread.
using Parallel = std::function<void(int64_t count, const std::function<void(int64_t)>& job)>;

/// A part has at most this number of rows.
inline constexpr int64_t kPartRows = 300;

/// Rows of a batch that pass one chunk after another.
struct PartRows {
  int64_t first = 0, rows = 0;
  int64_t chunk = 0;  // the number of chunks in the parts before it
};

/// Returns the parts of a batch, all of nearly the same size; a part has chunks of `chunk_rows` rows, the
/// last one fewer.
std::vector<PartRows> parts_of(int64_t rows, int64_t chunk_rows);

/// Runs a job for each part, through `parallel` if there are several.
void over_parts(int64_t parts, const Parallel& parallel, const std::function<void(int64_t part)>& job);

}  // namespace slimbayes::engine
