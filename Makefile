# Thin fronts of scripts/ and the CMake presets.
.DEFAULT_GOAL := build
.PHONY: help setup build test check stress demo asan fuzz debug bench format tidy clean

help:     ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

setup:    ## installs what is missing: system packages (apt) and .venv
	@scripts/setup.sh

build: setup ## the library and the tool, build/slimbayes
	@scripts/build.sh release slimbayes_tool slimbayes_commands

stress: build ## disturbs 200 fits and predictions by signals and a full disk
	@scripts/stress.py

demo: build  ## fits a small table, draws bands on data whose noise is known
	@build/slimbayes demo

test: setup  ## builds and runs every test
	@scripts/test.sh release

check: setup ## format, tidy, headers alone, sanitisers, mutants, on what changed since SINCE
	@scripts/check.sh

asan: setup  ## the C++ tests under the address and undefined-behaviour sanitisers
	@scripts/test.sh asan

fuzz: setup  ## seeded mutants of models, checkpoints and tables under the sanitisers, five minutes a kind
	@scripts/fuzz.sh

debug: setup ## everything, unoptimised, in build-debug
	@scripts/build.sh debug

bench: setup ## builds and runs the micro benchmarks
	@scripts/bench.sh

format:   ## clang-format on every C++ file
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs -r clang-format -i

tidy: setup  ## clang-tidy on the library and the tool
	@scripts/tidy.sh

clean:    ## removes builds; keeps .venv and the compiler cache
	@rm -rf build build-debug build-asan build-bench
