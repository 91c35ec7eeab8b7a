#!/usr/bin/env bash
# serve_aarch64.sh: builds libslimbayes_serve for 64-bit ARM with Debian's cross compiler and runs examples/serve/predict.c with it
# under qemu, beside the same program of this machine: equal answers to 1e-9. Needs build/ (make build) and, as root,
#
#   dpkg --add-architecture arm64 && apt-get update
#   apt-get install g++-aarch64-linux-gnu qemu-user-static libfmt-dev:arm64 libxxhash-dev:arm64 libutf8proc-dev:arm64 \
#     libboost1.74-dev:arm64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly folder=build-aarch64 model=build-aarch64/model.safetensors

for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$tool" >/dev/null || { echo "expected $tool; received none: see the head of scripts/serve_aarch64.sh" >&2; exit 1; }
done
mkdir -p "$folder"
cmake -S . -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DSLIMBAYES_ENGINE=OFF -DSLIMBAYES_SERVE=ON \
  -DSLIMBAYES_TESTS=OFF -DSLIMBAYES_PYTHON_MODULE=OFF >"$folder/configure.log"
cmake --build "$folder" --target slimbayes_serve

program() {  # compiler, folder of the library
  "$1" -std=c99 -O2 examples/serve/predict.c -I slimbayes/serve -L "$2/rooms" -lslimbayes_serve -Wl,-rpath,"$PWD/$2/rooms" -o "$2/serve_predict"
}
program aarch64-linux-gnu-gcc "$folder"
program cc build

status=0
for words in "y --method ridge" "y --method dbk" "y --method gp-exact" "y --method auto --candidates constant,ridge,gp-exact" \
  "age --likelihood softmax --method logistic" "age --likelihood softmax --method dnn"; do
  # shellcheck disable=SC2086  # a target, a method and its options
  build/slimbayes fit examples/data/concrete.csv --target $words --model "$model" 2>/dev/null >&2
  build/slimbayes predict "$model" examples/data/concrete.csv --out "$folder/all.csv" 2>/dev/null
  python3 - "$model" "$folder" <<'P' || status=1
import csv, json, subprocess, sys
model, folder = sys.argv[1:]
known = json.loads(subprocess.run(["build/serve_predict", model], input="", capture_output=True, text=True).stdout.splitlines()[0][2:])
with open("examples/data/concrete.csv", newline="") as file:
    rows = [",".join(row[column["name"]] for column in known["columns"]) for row in csv.DictReader(file)]
def answers(*words):
    out = subprocess.run([*words, model], input="\n".join(rows) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    return [list(map(float, line.split(","))) for line in out]
here, there = answers("build/serve_predict"), answers("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", f"{folder}/serve_predict")
worst = max(abs(a - b) / max(abs(a), 1e-9) for one, other in zip(here, there) for a, b in zip(one, other))
print(f"{known['method']}: {len(there)} rows, largest relative difference {worst:.1e}")
sys.exit(not (len(here) == len(there) == len(rows) and worst < 1e-6))
P
done
exit $status
