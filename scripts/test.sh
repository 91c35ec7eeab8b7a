#!/usr/bin/env bash
# test.sh PRESET: builds everything, runs the C++ tests and (release) the Python tests. Fails when any of them fails.
#
#   SLIMBAYES_DATA=...  folder of the published data sets, by default ../shared/data. Where it is absent the tests that
#                       read them (C++ suites named RealData*, Python tests marked real_data) are left out, and listed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly preset=$1 python=.venv/bin/python
failed=()

say() { printf '[test] %s\n' "$*" >&2; }

scripts/build.sh "$preset"

python_tests=$([[ $preset != release ]] || find tests -name 'test_*.py' | sort)
selection=(-m 'real_data or not real_data')
export SLIMBAYES_DATA=${SLIMBAYES_DATA:-$PWD/../shared/data}
if [[ ! -d $SLIMBAYES_DATA ]]; then
  say "no folder $SLIMBAYES_DATA: these tests of published data are not run (set SLIMBAYES_DATA to run them):"
  for program in build/checks/test_*; do
    [[ -x $program && -f $program ]] || continue
    "$program" --gtest_list_tests --gtest_filter='RealData*' | sed -n 's/^\(RealData.*\)/  \1/p; s/^  \([^ ]\)/    \1/p'
  done
  if [[ -n $python_tests ]]; then
    # 5: nothing was collected
    "$python" -m pytest tests --collect-only -m real_data | sed -n 's/^.*::/  &/p' || [[ $? == 5 ]]
  fi
  export GTEST_FILTER='-RealData*'
  selection=(-m 'not real_data')
  unset SLIMBAYES_DATA
fi

if [[ $preset == asan ]]; then
  # libtorch is not instrumented: containers that cross its border look overflown, and its singletons are never freed.
  export ASAN_OPTIONS=detect_container_overflow=0:strict_string_checks=1
  export LSAN_OPTIONS=suppressions=$PWD/tests/sanitizer/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=suppressions=$PWD/tests/sanitizer/ubsan.supp:print_stacktrace=1
fi

say "C++ tests"
ctest --preset "$preset" || failed+=(C++)
if [[ -n $python_tests ]]; then
  say "Python tests"
  "$python" -m pytest tests "${selection[@]}" || failed+=(Python)
fi

if ((${#failed[@]})); then
  say "FAILED: ${failed[*]}"
  exit 1
fi
say "all passed in $SECONDS s"
