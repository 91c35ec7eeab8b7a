# Most targets only call a script of scripts/; the scripts use the CMake presets.
.DEFAULT_GOAL := build
.PHONY: help setup build test check stress demo asan fuzz differential debug bench format tidy wheel clean

help:     ## lists the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

setup:    ## installs what is missing: system packages (apt) and .venv
	@scripts/setup.sh

build: setup ## builds the library and the tool, build/slimbayes
	@scripts/build.sh release slimbayes_tool slimbayes_commands slimbayes_libraries

stress: build ## tests 200 fits and predictions under signals and a full disk
	@scripts/stress.py

demo: build  ## fits a small table, draws bands on data with known noise
	@build/slimbayes demo

test: setup  ## builds and runs every test
	@scripts/test.sh release

check: setup ## checks format and tidy of changes since SINCE, each header alone, sanitisers, mutants, random cases
	@scripts/check.sh

asan: setup  ## runs the C++ tests under the address and undefined-behaviour sanitisers
	@scripts/test.sh asan

fuzz: setup  ## tries seeded mutants of models, checkpoints and tables under the sanitisers, five minutes per kind
	@scripts/fuzz.sh

differential: setup ## tries 5,000 random tables, methods and options with the package and the tool
	@scripts/build.sh release slimbayes_tool slimbayes_commands slimbayes_python
	@.venv/bin/python tests/fuzz/differential.py

debug: setup ## builds everything unoptimised in build-debug
	@scripts/build.sh debug

bench: setup ## builds and runs the micro benchmarks
	@scripts/bench.sh

format:   ## runs clang-format on every C++ file
	@command -v clang-format >/dev/null || { echo 'clang-format is missing; as root: apt-get install -y --no-install-recommends clang-format' >&2; exit 1; }
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs -r clang-format -i

tidy: setup  ## runs clang-tidy on the library and the tool
	@scripts/tidy.sh

wheel: setup ## builds the wheel slimbayes-serve in dist/: serving from Python without torch
	@.venv/bin/pip wheel -q --no-deps -w dist python/serve && ls dist

clean:    ## removes the builds; keeps .venv and the compiler cache
	@rm -rf build build-debug build-asan build-bench
