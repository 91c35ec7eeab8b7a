#!/usr/bin/env bash
# gpu_check.sh [DEVICE]: builds, tests and times slimbayes on a GPU (by default cuda) in less than ten minutes. Writes
# benchmarks/results/gpu_CARD_DATE.txt and shows it meanwhile. Fails if a test fails, or if the fits of the GPU are not level
# with those of the CPU; speeds are written beside what is wanted of them, and fail nothing.
#
#   GPU_CHECK_SECONDS=...  time for all of it, by default 570: what does not fit in is named, and not measured
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly device=${1:-cuda} seconds=${GPU_CHECK_SECONDS:-570} python=.venv/bin/python
failed=()

say() { printf '[gpu] %s\n' "$*" >&2; }

left() { echo $((seconds - SECONDS)); }

# Runs a command for at most so many seconds of what is left; notes its name if it fails.
part() {
  local name=$1 most=$2 code=0
  shift 2
  if (($(left) < 20)); then
    echo "$name: not run, the time is over"
    failed+=("$name")
    return
  fi
  if ((most > $(left))); then most=$(left); fi
  timeout --kill-after=5 "$most" "$@" || code=$?
  ((code == 0)) || failed+=("$name")
  ((code != 124)) || echo "$name: ended after $most s"
}

facts() {
  local commit
  commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  "$python" -c 'import torch; print("torch", torch.__version__, "CUDA", torch.version.cuda)'
  echo "slimbayes $commit, $(nproc) cores, $(date -u +'%Y-%m-%d %H:%M') UTC"
}

# The tests of the device: every method, input and task against the CPU, and the refusals of the tool.
tests() {
  local contracts=$1
  echo "== contracts on $device"
  # A binary that does not know the variable would test the simulated device once more.
  if ! grep -qs SLIMBAYES_TEST_DEVICE "$contracts"; then
    echo "contracts: not run: the tests take the simulated device alone"
    failed+=(contracts)
    return
  fi
  part contracts 240 env SLIMBAYES_TEST_DEVICE="$device" OMP_NUM_THREADS=1 "$contracts" --gtest_brief=1
}

measures() {
  echo
  echo "== levels, speeds, memory"
  part measures "$(left)" "$python" benchmarks/gpu_check.py --device "$device" --seconds "$(($(left) - 20))"
}

[[ -f .venv/.setup-stamp ]] || scripts/setup.sh
command -v nvidia-smi >/dev/null || {
  say "expected a machine with an NVIDIA GPU; found no nvidia-smi"
  exit 1
}
"$python" -c 'import sys, torch; sys.exit(torch.version.cuda is None or not torch.cuda.is_available())' || {
  say "expected a torch with CUDA that sees the GPU in .venv; found another: install one for your python3, then scripts/setup.sh"
  exit 1
}
scripts/build.sh release slimbayes_tool slimbayes_commands device_contracts >&2
say "built in $SECONDS s"

card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr -cs 'A-Za-z0-9\n' '-' | sed 's/-*$//')
out=benchmarks/results/gpu_${card}_$(date -u +%F).txt
contracts=$(find build -name device_contracts -type f -perm -u+x | head -n 1)
mkdir -p "$(dirname "$out")"
{
  facts
  tests "$contracts"
  measures
  echo
  if ((${#failed[@]})); then echo "failed: ${failed[*]}"; else echo "all passed in $SECONDS s"; fi
} > >(tee "$out") 2>&1
wait $! || true  # for tee
say "written to $out"
((${#failed[@]} == 0))
