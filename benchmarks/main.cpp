#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

// One thread for every benchmark: ratios to the floors and to the peers are of single cores.
int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
