#!/usr/bin/env bash
# Builds benchmarks/ (google-benchmark) in build-bench and runs each program of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ! -f benchmarks/CMakeLists.txt ]]; then
  printf '[bench] there are no benchmarks in this checkout\n' >&2
  exit 1
fi
scripts/build.sh bench
for program in build-bench/bench/bench_*; do
  [[ -x $program && -f $program ]] && "$program" "$@"
done
