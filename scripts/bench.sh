#!/usr/bin/env bash
# Builds benchmarks/ (google-benchmark) in build-bench and runs it; then the peers, side by side, where gpytorch installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh bench bench slimbayes_tool slimbayes_commands
build-bench/bench "$@"
if .venv/bin/pip install --quiet --no-cache-dir --requirement benchmarks/requirements.txt; then
  .venv/bin/python benchmarks/peers.py
fi
