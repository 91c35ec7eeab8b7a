#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures when the set-up or the presets changed, then builds (everything by default).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly preset=$1
shift
case $preset in
  release) folder=build ;;
  *) folder=build-$preset ;;
esac

if command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=Ninja
fi

readonly cache=$folder/CMakeCache.txt log=$folder/configure.log
if [[ ! -f $folder/build.ninja && ! -f $folder/Makefile || .venv/.setup-stamp -nt $cache || CMakePresets.json -nt $cache ]]; then
  printf '[build] configuring %s\n' "$folder" >&2
  mkdir -p "$folder"
  # What the last set-up found is forgotten.
  cmake --preset "$preset" -U Torch_DIR -U SLIMBAYES_PYTHON ${Torch_DIR:+-DTorch_DIR="$Torch_DIR"} >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    printf '[build] configuring failed; all of it is in %s\n' "$log" >&2
    exit 1
  }
  touch "$cache"
fi
exec cmake --build "$folder" --parallel "${JOBS:-$(nproc)}" ${@:+--target "$@"}
