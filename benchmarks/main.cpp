#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "slimbayes/storage/memory.h"

// Every benchmark runs on one thread, so that the ratios to floors and peers compare single cores.
int main(int argc, char** argv) {
  slimbayes::keep_freed_memory();  // as the tool does
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
