#!/usr/bin/env bash
# check.sh: what a change should pass beside the tests: clang-format on the lines that changed, clang-tidy on the files that
# changed, every header alone, the C++ tests under the sanitisers, each kind of mutant for a minute, random tables, methods and
# options for a minute. Fails when one does.
#
#   SINCE=origin/main  changed since this commit (default: origin/main where there is one, else HEAD~1)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
since=${SINCE:-$(git rev-parse --verify --quiet origin/main || git rev-parse --verify HEAD~1)}
readonly since
failed=()

say() { printf '[check] %s\n' "$*" >&2; }

# clang-format's own tool; Debian names it by its version.
format_diff=$(compgen -c clang-format-diff | sort -V | tail -n 1)
say "format: lines changed since $since"
if [[ -z $format_diff ]]; then
  say "clang-format-diff is missing: not checked; as root: apt-get install -y --no-install-recommends clang-format"
  failed+=(format)
else
  # Newer versions exit with 1 where they print a change.
  if ! changes=$(git diff -U0 --no-color "$since" -- '*.h' '*.cpp' | "$format_diff" -p1) || [[ -n $changes ]]; then
    printf '%s\n' "$changes" >&2
    failed+=(format)
  fi
fi

mapfile -t changed < <(git diff --name-only --diff-filter=d "$since" -- 'slimbayes/*.cpp' 'cli/*.cpp')
say "tidy: ${#changed[@]} changed files"
((${#changed[@]} == 0)) || scripts/tidy.sh "${changed[@]}" || failed+=(tidy)

say "headers alone"
scripts/build.sh release headers_base headers_engine || failed+=(headers)

say "C++ tests under the sanitisers"
scripts/test.sh asan || failed+=(asan)

say "mutants, a minute a kind"
SECONDS_EACH=60 scripts/fuzz.sh || failed+=(fuzz)

# The commit is the seed: each one tries other cases, and the same ones when it is checked again.
say "random tables, methods and options, a minute"
scripts/build.sh release slimbayes_tool slimbayes_commands slimbayes_python &&
  .venv/bin/python tests/fuzz/differential.py --seconds 60 --seed $((16#$(git rev-parse --short=7 HEAD | cut -c1-7))) ||
  failed+=(differential)

if ((${#failed[@]})); then
  say "FAILED: ${failed[*]}"
  exit 1
fi
say "all passed in $SECONDS s"
