#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "slimbayes/core/random.h"
#include "slimbayes/data/table/table.h"

// Times read_table on CSV files: ten million numbers (500,000 rows with 20 columns), and 200,000 rows of
// texts in quotes, which hold separators, doubled quotes and line ends.

namespace slimbayes {
namespace {

/// A temporary CSV file that its destructor removes.
struct TemporaryCsv {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("slimbayes-bench-{}.csv", getpid());
  std::ofstream out{path};
  ~TemporaryCsv() { std::filesystem::remove(path); }
};

void write_numbers(std::ofstream& out) {
  constexpr int64_t kRows = 500000, kColumns = 20;
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

void write_texts(std::ofstream& out) {
  constexpr int64_t kRows = 200000;
  out << "id,\"a, title\",note,score\n";
  for (int64_t i = 0; i < kRows; ++i)
    out << fmt::format("{},\"title {}, a\",\"the \"\"{}th\"\" review of a book that nobody reads{}\",{}.5\n",
                       i, i % 1000, i % 100, i % 5 == 0 ? "\nin two lines" : "", i % 7);
}

void BM_read_table(benchmark::State& state, void (*write)(std::ofstream&)) {
  TemporaryCsv file;
  write(file.out);
  file.out.close();
  for (auto _ : state) benchmark::DoNotOptimize(read_table(file.path));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(std::filesystem::file_size(file.path)));
}
// Measures wall time, which includes waiting for the disk.
BENCHMARK_CAPTURE(BM_read_table, numbers, write_numbers)
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_read_table, texts, write_texts)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace slimbayes
