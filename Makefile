# The front door. Every target installs what it needs first (tools/setup.sh; quick when it is there).
# The build itself is CMake's: see CMakePresets.json and docs/building.md.

BUILD := build
JOBS ?= $(shell nproc)
PYTHON := /usr/bin/python3
SOURCES = $(shell git ls-files '*.cpp' '*.hpp' '*.h')

.DEFAULT_GOAL := help
.PHONY: help build test demo bench rivals format lint clean configure

help: ## show this list
	@echo "Kalmia: learns to filter, smooth and forecast noisy time series. Targets:"
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup-%:
	@tools/setup.sh $*

configure: setup-build setup-test setup-bench
	@cmake --preset release -DKALMIA_BUILD_TESTS=ON -DKALMIA_BUILD_BENCH=ON --log-level=WARNING

build: configure ## compile the program build/kalmia, library, tests, benchmarks and examples
	@$(PYTHON) tools/build.py $(BUILD) -j $(JOBS)

test: build ## build, then run all tests (at most ten minutes)
	@$(PYTHON) tools/run_tests.py $(BUILD) -j $(JOBS)

demo: setup-build ## build, then learn to clean a noisy Lorenz trajectory (examples/demo.sh)
	@cmake --preset release -DKALMIA_BUILD_TESTS=OFF -DKALMIA_BUILD_BENCH=OFF --log-level=WARNING
	@$(PYTHON) tools/build.py $(BUILD) kalmia_program lorenz_limits -j $(JOBS)
	@examples/demo.sh $(BUILD)

bench: build ## run every benchmark briefly
	@cmake --build $(BUILD) --target bench

rivals: setup-rivals build ## compare with PyTorch, statsmodels and NumPy (at most ten minutes)
	@$(PYTHON) bench/rivals/run.py

format: setup-lint ## rewrite the C++ sources in the project's style
	@clang-format -i $(SOURCES)

lint: setup-lint configure ## check formatting, then run clang-tidy (minutes)
	@clang-format --dry-run -Werror $(SOURCES)
	@cmake --preset release -B $(BUILD)/lint -DKALMIA_COMPILE_TOGETHER=OFF -DKALMIA_BUILD_TESTS=ON -DKALMIA_BUILD_BENCH=ON --log-level=WARNING
	@run-clang-tidy -quiet -p $(BUILD)/lint -j $(JOBS) '^$(CURDIR)/(src|cli|examples|tests|bench)/.*\.cpp$$'

clean: ## remove build/
	@rm -rf $(BUILD)
