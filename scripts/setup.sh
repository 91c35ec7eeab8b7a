#!/usr/bin/env bash
# Sets up what is missing: system packages through apt, a .venv with the pinned Python packages. A second call sees the
# stamp and returns at once. Nothing is written outside the checkout but what apt installs.
#
#   Torch_DIR=...  use this libtorch; else a torch >= 2.6 of the active python3 is used; else the pinned one is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly log=.cache/setup.log stamp=.venv/.setup-stamp
readonly minimum_torch=2.6

say() { printf '[setup] %s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Runs a command into the log; shows the log's end when it fails.
logged() {
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 && return
  printf '[setup] failed: %s\n' "$*" >&2
  tail -n 25 "$log" >&2
  return 1
}

wanted_stamp() {
  cat requirements.txt tests/requirements.txt scripts/setup.sh - <<<"${Torch_DIR-}" | sha256sum
}

# package: how to see that it is there, however it was installed.
readonly required='
g++             command -v g++
cmake           command -v cmake
ninja-build     command -v ninja
libgtest-dev    header gtest/gtest.h
nlohmann-json3-dev header nlohmann/json.hpp
libcli11-dev    header CLI/CLI.hpp
libfmt-dev      header fmt/format.h
libxxhash-dev   header xxhash.h
libutf8proc-dev header utf8proc.h
librandom123-dev header Random123/philox.h
libpng-dev      header png.h
libhwy-dev      header hwy/highway.h
libboost-math-dev header boost/math/quadrature/gauss_kronrod.hpp
python3         command -v python3
python3-venv    python3 -c import\ venv,ensurepip
python3-dev     python_headers
'
readonly optional='
ccache          command -v ccache
mold            command -v mold
libbenchmark-dev header benchmark/benchmark.h
'

header() {
  printf '#include <%s>\n' "$1" | g++ -std=c++20 -E -x c++ - -o /dev/null
}

# Whether python3 can compile modules.
python_headers() {
  test -f "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h"
}

# The packages of a list that are neither installed nor otherwise there.
missing() {
  local package probe
  while read -r package probe; do
    [[ -z $package ]] && continue
    dpkg -s "$package" >/dev/null 2>&1 || eval "$probe" >/dev/null 2>&1 || printf '%s ' "$package"
  done <<<"$1"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo -n "$@"; fi
}

can_use_apt() {
  command -v apt-get >/dev/null && { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }
}

system_packages() {
  local needed wished
  needed=$(missing "$required")
  wished=$(missing "$optional")
  [[ -z $needed$wished ]] && return
  if can_use_apt; then
    say "installing system packages: $needed$wished"
    local install=(as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends)
    # Package lists are fetched only when the ones at hand do not do.
    # shellcheck disable=SC2086
    "${install[@]}" $needed $wished >>"$log" 2>&1 ||
      { logged as_root apt-get update && logged "${install[@]}" $needed $wished; } || true
    needed=$(missing "$required")
    [[ -z $needed ]] && return
  fi
  say "system packages are missing; as root: apt-get install -y --no-install-recommends $needed$wished"
  [[ -z $needed ]] || fail "then run this again"
  say "going on without them: they only make builds faster, or are for benchmarks"
}

# The folder that holds the active python's torch, if that is new enough and not our own.
users_torch() {
  python3 - "$minimum_torch" "$PWD/.venv" <<'PY'
import importlib.metadata, importlib.util, pathlib, sys

def number(text):
    return [int(part) for part in text.split("+")[0].split(".")[:2]]

spec = importlib.util.find_spec("torch")
if spec and spec.submodule_search_locations:
    root = pathlib.Path(spec.submodule_search_locations[0])
    new_enough = number(importlib.metadata.version("torch")) >= number(sys.argv[1])
    if new_enough and (root / "share/cmake/Torch").is_dir() and pathlib.Path(sys.argv[2]) not in root.parents:
        print(root.parent)
PY
}

python_packages() {
  local torch_home='' list=.cache/requirements.txt site
  if ! .venv/bin/python -c '' 2>/dev/null; then
    say "making .venv"
    logged python3 -m venv --clear .venv
  fi
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  rm -f "$site/users_torch.pth"
  [[ -n ${Torch_DIR-} ]] || torch_home=$(users_torch 2>>"$log" || true)
  if [[ -n $torch_home ]]; then
    # A path file puts the user's packages behind those of .venv.
    printf '%s\n' "$torch_home" >"$site/users_torch.pth"
    if ! .venv/bin/python -c 'import torch' 2>>"$log"; then
      rm "$site/users_torch.pth"
      torch_home=''
    fi
  fi
  cat requirements.txt tests/requirements.txt >"$list"
  if [[ -n ${Torch_DIR-} ]]; then
    say "using libtorch of Torch_DIR=$Torch_DIR"
    sed -i '/^torch==/d; /^botorch==/d' "$list"  # botorch would bring a torch of its own
  elif [[ -n $torch_home ]]; then
    say "using the torch in $torch_home"
    sed -i '/^torch==/d' "$list"
  fi
  say "Python packages into .venv: $(sed '/^#/d' "$list" | tr '\n' ' ')"
  ! grep -q '^torch==' "$list" || say "torch is large: a few minutes on a slow line"
  logged .venv/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check -r "$list"
}

if [[ -x .venv/bin/python && -f $stamp && $(wanted_stamp) == "$(<"$stamp")" ]]; then
  exit 0
fi
mkdir -p .cache
: >"$log"
say "first set-up; details in $log"
system_packages
python_packages
wanted_stamp >"$stamp"
say "done in $SECONDS s"
