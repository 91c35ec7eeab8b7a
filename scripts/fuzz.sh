#!/usr/bin/env bash
# fuzz.sh [KIND...]: mutants of models (of tables), of models of several targets (joint), of those of tables
# served without libtorch (serve), of inputs (models of windows, images and texts), checkpoints, csv, parquet
# and feather files under the address and undefined-behaviour sanitisers (tests/fuzz/mutants.cpp). Fails when
# one of them does, says how to repeat it.
#
#   PRESET=asan     release: without sanitisers, faster, and it limits the memory
#   FIRST=0         the first seed
#   COUNT=100000    mutants of each kind, at most
#   SECONDS_EACH=300  for each kind
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly preset=${PRESET:-asan} first=${FIRST:-0} count=${COUNT:-100000} seconds=${SECONDS_EACH:-300}
readonly folder=build$([[ $preset == release ]] || echo "-$preset")
kinds=("$@")
((${#kinds[@]})) || kinds=(models joint serve inputs checkpoints csv parquet feather)

scripts/build.sh "$preset" mutants
# libtorch and Arrow are not instrumented (scripts/test.sh).
export ASAN_OPTIONS=detect_container_overflow=0:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
SLIMBAYES_MUTANT=$(mktemp)
export SLIMBAYES_MUTANT
trap 'rm -f "$SLIMBAYES_MUTANT"' EXIT
failed=0
for kind in "${kinds[@]}"; do
  code=0
  "$folder/checks/mutants" "$kind" "$first" "$count" "$seconds" || code=$?
  ((code == 0)) && continue
  failed=1
  # More than 2 is a crash: the program printed no seed.
  ((code <= 2)) || printf '[fuzz] crashed at: mutants %s 1 300\n' "$(cat "$SLIMBAYES_MUTANT")" >&2
done
exit "$failed"
