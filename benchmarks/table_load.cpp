#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

// Times read_table on a CSV file of ten million numbers: 500,000 rows with 20 columns.

namespace slimbayes {
namespace {

constexpr int64_t kRows = 500000, kColumns = 20;

/// A temporary CSV file that its destructor removes.
struct TemporaryCsv {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("slimbayes-bench-{}.csv", getpid());

  TemporaryCsv() {
    std::ofstream out(path);
    for (int64_t c = 0; c < kColumns; ++c) out << (c ? "," : "") << "x" << c;
    out << "\n";
    std::string line;
    Stream stream(0);
    for (int64_t i = 0; i < kRows; ++i) {
      line.clear();
      for (int64_t c = 0; c < kColumns; ++c) {
        double value = 2 * stream.uniform(static_cast<uint64_t>(i * kColumns + c)) - 1;
        fmt::format_to(std::back_inserter(line), "{}{:.6f}", c ? "," : "", value);
      }
      out << line << "\n";
    }
  }
  ~TemporaryCsv() { std::filesystem::remove(path); }
};

void BM_read_table(benchmark::State& state) {
  TemporaryCsv file;
  for (auto _ : state) benchmark::DoNotOptimize(read_table(file.path));
  state.counters["cells"] = static_cast<double>(kRows * kColumns);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(std::filesystem::file_size(file.path)));
}
// Measures wall time, which includes waiting for the disk.
BENCHMARK(BM_read_table)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace slimbayes
