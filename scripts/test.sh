#!/usr/bin/env bash
# test.sh PRESET: builds everything, runs the C++ tests and (release) the Python tests. Fails when any of them fails.
#
#   SLIMBAYES_DATA=...  folder of the published data sets, by default ../shared/data. What is absent there is not tested,
#                       and named at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly preset=$1
readonly folder=build$([[ $preset == release ]] || echo "-$preset") python=.venv/bin/python
failed=()

say() { printf '[test] %s\n' "$*" >&2; }

scripts/build.sh "$preset"

python_tests=$([[ $preset != release ]] || find tests -name 'test_*.py' | sort)
selection='real_data or not real_data'
if [[ ! -d ${SLIMBAYES_DATA:=$PWD/../shared/data} ]]; then
  say "no folder $SLIMBAYES_DATA: tests of published data are not run (set SLIMBAYES_DATA to run them)"
  selection='not real_data'
fi
export SLIMBAYES_DATA

if [[ $preset == asan ]]; then
  # libtorch and Arrow are not instrumented: containers that cross their border could look overflown. No leak is
  # suppressed: a rule for libtorch would hide every tensor that we leak.
  # Two frames of an allocation. The sanitiser keeps every stack that it has seen and searches among them: with five frames a test
  # took up to fifteen times as long late in a program as alone. To see whole stacks, run the test that failed alone with
  # GTEST_FILTER and without the last option.
  # Tests ask for more memory than there is: they get what malloc gives, null.
  export ASAN_OPTIONS=detect_container_overflow=0:strict_string_checks=1:malloc_context_size=2:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
fi

say "C++ tests"
ctest --preset "$preset" || failed+=(C++)
if [[ -n $python_tests ]]; then
  say "Python tests"
  export OMP_WAIT_POLICY=passive  # see tests/CMakeLists.txt
  # The threads of NumPy's BLAS wait busily whatever that variable says: beside the tests of another worker, 401 determinants
  # took eight times as long.
  export OPENBLAS_NUM_THREADS=1
  "$python" -m pytest tests -m "$selection" --numprocesses auto --dist loadfile || failed+=(Python)
fi

# ctest shows no output of a test that passed: its log has the lines of what was not tested.
grep -hs '^real-data test not run' "$folder/Testing/Temporary/LastTest.log" || true
if [[ -n $python_tests && $selection == 'not real_data' ]]; then
  "$python" -m pytest tests --collect-only -m real_data | sed -n 's/^[^ ]*::/real-data test not run: &/p' || true
fi

if ((${#failed[@]})); then
  say "FAILED: ${failed[*]}"
  exit 1
fi
say "all passed in $SECONDS s"
