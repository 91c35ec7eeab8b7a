#!/usr/bin/env bash
# clang-tidy on the library and the tool, or on the files given.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v clang-tidy >/dev/null || {
  printf '[tidy] clang-tidy is missing; as root: apt-get install -y --no-install-recommends clang-tidy\n' >&2
  exit 1
}
scripts/build.sh debug help >/dev/null
files=("$@")
if ((!$#)); then
  mapfile -t files < <(git ls-files 'slimbayes/*.cpp' 'cli/*.cpp')
fi
# g++'s precompiled header and one of its warnings mean nothing to clang: a copy of the commands without them.
mkdir -p .cache/tidy
sed -E 's/-Winvalid-pch//; s/-include [^ ]*cmake_pch\.hxx//; s/-fpch-preprocess//; s/ -fuse-ld=mold//; s/ -Wno-restrict//' \
  build-debug/compile_commands.json >.cache/tidy/compile_commands.json
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p .cache/tidy --quiet
