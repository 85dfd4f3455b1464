# The commands of this tree. Each stage prints one line when it starts and its seconds when it ends.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

STAGE := tools/stage
CHANCE := tools/second_chance
PY := .venv/bin/python
JOBS ?= $(shell nproc)

# Where tests and scripts find the binaries of the release preset.
export MF_BUILD_DIR ?= $(CURDIR)/build/release
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# Set QUICK=1 for a bench of at most five minutes; passed on as it is.
export QUICK

.PHONY: help demo test test-system test-packages test-distant bench bench-ab soak fuzz mutants lint tidy format regen hashes sbom wheels wheel-aarch64 debs vsix release docs clean

help: ## This list
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## Run the report's search testbed on WordNet's glosses
	@$(STAGE) 'install what the demo needs' tools/bootstrap core
	@$(MAKE) build-demo WHAT='--target demo'
	@MF_BUILD_DIR=$(CURDIR)/build/demo $(PY) examples/testbed/demo.py

# Tests of many processes and their time limits: nothing beside them but each other, since they mostly wait.
ALONE := tests/conformance tests/etcd tests/faults tests/hostile tests/interop tests/testbed tests/simulation

# What takes minutes, since processes must be given time: `make test-system` runs it behind `make test`.
SYSTEM := tests/bridge tests/etcd tests/examples/test_upgrade_long.py tests/faults/test_in_flight.py tests/faults/test_interrupted.py tests/tools/test_bare.py

# What needs wheels and Debian packages, and installs some in roots of their own: `make test-packages`.
PACKAGES := tests/packages

# Suites of C++ whose threads share data. The thread sanitizer runs the first list in `make test`, and all in `make test-system`.
RACES := ^(link|streams)$$
THREADED := ^(link|client|evolution|server|streams|cached|testing|controller|relay|bridge|topics|replicated|flex)$$

# What `make test-distant` runs. Others need an answer within a millisecond, or send a lot.
DISTANT := ^(client|streams|cached|controller|relay|flex|evolution|topics|testing)$$

# The order is cheapest first, so that a mistake shows early; the sanitizers close.
test: ## Run everything that must hold, as CI does
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(MAKE) checks
	@$(MAKE) build-release
	@$(STAGE) 'C++ tests, g++' $(CHANCE) ctest --preset release -j $(JOBS)
	@$(STAGE) 'Python tests of the compiler and of builds' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal tests/build tests/compiler tests/lsp tests/serve
	@$(STAGE) 'Python tests of the runtime' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal $(ALONE:%=--ignore %) $(SYSTEM:%=--ignore %) $(PACKAGES:%=--ignore %) --ignore tests/compiler --ignore tests/build --ignore tests/lsp --ignore tests/serve
	@MF_TEST_NATIVE=1 $(STAGE) 'Python tests of codecs and connections, with the native module' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal tests/python/codec tests/python/values tests/python/link tests/python/client tests/python/server
	@$(STAGE) 'Python tests of processes that are killed, stopped and timed' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal $(ALONE) $(SYSTEM:%=--ignore %) $(PACKAGES:%=--ignore %)
	@$(MAKE) sanitizers

wheels: ## Make the wheels and source distributions of mfidl, mf-runtime, mf-runtime-native, mfidl-tools and mf-controller in dist/
	@$(STAGE) 'install what packages need' tools/bootstrap core package
	@$(STAGE) 'wheels' tools/wheels

wheel-aarch64: ## Make the wheel mf-controller for 64-bit Arm in dist/
	@$(STAGE) 'install what makes a bare machine' tools/bootstrap bare
	@mkdir -p dist
	@$(STAGE) 'wheel for 64-bit Arm' tools/bare --ccache --packages --out dist tools/wheel_aarch64 /srv/out

debs: ## Make the Debian packages libmf-dev, mfidlc and mf-controller in dist/
	@$(STAGE) 'install what packages need' tools/bootstrap core package bridge
	@$(STAGE) 'Debian packages' tools/debs

release: ## Make all of a release in dist/: packages, bill of materials (SBOM), notes and SHA256SUMS
	@$(MAKE) wheels wheel-aarch64 debs
	@$(STAGE) 'install what the rest needs' tools/bootstrap core test
	@$(STAGE) 'bill of materials' $(PY) tools/sbom.py build/install dist/mf-idl.cdx.json
	@$(STAGE) 'notes and sums' $(PY) -m tools.release dist

test-packages: ## Make the packages, and run their tests
	@$(MAKE) wheels wheel-aarch64 debs
	@$(STAGE) 'packages' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal -o faulthandler_timeout=2500 $(PACKAGES)

test-system: ## Run the tests of whole systems under harm, which take minutes
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(STAGE) 'install the engines of bridges, and what makes a bare machine' tools/bootstrap bridge bare
	@$(MAKE) build-release WHAT='--target all bench' # so that the benches go on compiling
	@$(MAKE) docs
	@$(STAGE) 'systems under harm' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal $(SYSTEM)
	@$(STAGE) 'roles, bridges among them' $(CHANCE) $(PY) -m pytest -q tests/hostile/test_roles.py
	@MF_CONFORMANCE=all $(STAGE) 'conformance, all cells' $(CHANCE) $(PY) -m pytest -q -n $(JOBS) --dist worksteal tests/conformance/test_conformance.py
	@$(MAKE) build-clang-tsan WHAT='--target mf_threaded_tests'
	@$(STAGE) 'C++ tests of threads, thread sanitizer' $(CHANCE) ctest --preset clang-tsan -j $(JOBS) -L '$(THREADED)'

test-distant: ## Run tests as on a slow network, which needs /dev/net/tun and rights for a network namespace
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(MAKE) build-release
	@$(MAKE) build-debug WHAT='--target mf_tests'
	@$(STAGE) 'a slow network, C++' tools/with_latency 0-20 $(CHANCE) ctest --preset debug -j 6 -L '$(DISTANT)'
	@$(STAGE) 'a slow network, Python' tools/with_latency 10 $(CHANCE) $(PY) -m pytest -q -n 4 --dist worksteal tests/python/client tests/python/link

bench: ## Run every bench; `make bench-rpc` runs one, QUICK=1 shortens it
	@$(MAKE) bench-all

REV ?= HEAD~1
NAMES ?= rpc python topics
ROUNDS ?= 3
bench-ab: ## Compare NAMES='rpc python topics' of this tree with those of REV=HEAD~1, run in turn ROUNDS=3 times
	@$(STAGE) 'install what the benches need' tools/bootstrap core
	@$(PY) bench/ab.py $(REV) $(NAMES) --rounds $(ROUNDS)

bench-%:
	@$(STAGE) 'install what the benches need' tools/bootstrap core bench
	@$(MAKE) build-release WHAT='--target $(if $(filter codecs,$*),bench-codecs,bench)'
	@case $* in codecs|all) $(MAKE) build-release-clang WHAT='--target bench-codecs';; esac
	@$(PY) bench/run.py $*

# For tests that may take hours: without the limits of pyproject.toml.
LONG := --timeout 0 -o faulthandler_timeout=0

soak: ## Run the long tests: MF_SOAK_SECONDS=3600 unless set
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(MAKE) build-release
	@MF_SOAK_SECONDS=$${MF_SOAK_SECONDS:-3600} $(STAGE) 'soak' $(PY) -m pytest -q -m soak $(LONG)
	@$(MAKE) build-debug WHAT='--target mf_test_app mf_test_replicated'
	@MF_KILLS=$${MF_KILLS:-200} $(STAGE) 'soak, a controller that is killed' ctest --preset debug -R KilledController -j $(JOBS) --timeout 3600
	@MF_REPLICATED_SEEDS=$${MF_REPLICATED_SEEDS:-1000} $(STAGE) 'soak, replicated messages in C++' ctest --preset debug -R Simulated -j $(JOBS) --timeout 3600

fuzz: ## Run every decoder on its full count of corruptions (MF_FUZZ_RUNS=20000), and libFuzzer (MF_FUZZ_SECONDS=60 each)
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(MAKE) build-clang-asan WHAT='--target mf_tests mf_fuzzers'
	@MF_FUZZ_RUNS=$${MF_FUZZ_RUNS:-20000} $(STAGE) 'fuzz, C++' ctest --preset clang-asan -R '[Ff]uzz|[Hh]ostile' -j $(JOBS)
	@MF_FUZZ_RUNS=$${MF_FUZZ_RUNS:-20000} $(STAGE) 'fuzz, libFuzzer' $(PY) tests/fuzz/run.py build/clang-asan/tests/fuzz
	@MF_FUZZ_RUNS=$${MF_FUZZ_RUNS:-20000} $(STAGE) 'fuzz, Python' $(PY) -m pytest -q -m fuzz $(LONG)

# Measures what tests find: each mutant is a small mistake in a copy of the sources, by which a test should
# fail.
FLOOR ?=
SEED ?= 1
COUNT ?= 20
mutants: ## Try COUNT=20 mutants of each floor, or of FLOOR=link, drawn by SEED=1; list what no test notices
	@$(STAGE) 'install what the tests need' tools/bootstrap core test
	@$(MAKE) build-release
	@$(STAGE) 'mutants' $(PY) -m tools.mutants $(FLOOR:%=--floor %) --seed $(SEED) --count $(COUNT) --jobs $(JOBS)

lint: ## Check style, types and floors, without building anything
	@$(STAGE) 'install what the checks need' tools/bootstrap core test
	@$(MAKE) checks

tidy: ## Run clang-tidy over the C++ runtime (slow)
	@$(STAGE) 'install what clang-tidy needs' tools/bootstrap core test
	@$(STAGE) 'configure' cmake --preset clang-asan --log-level=ERROR
	@$(STAGE) 'clang-tidy' tools/tidy build/clang-asan

format: ## Rewrite the sources in the tree's format
	@$(STAGE) 'install the formatters' tools/bootstrap core test
	@$(STAGE) 'ruff' $(PY) -m ruff format -q .
	@$(STAGE) 'ruff, mendable findings' $(PY) -m ruff check -q --fix-only .
	@$(STAGE) 'clang-format' tools/clang_format --in-place

regen: ## Make the checked-in generated files anew (the parser needs Java)
	@$(STAGE) 'install what regeneration needs' tools/bootstrap core regen
	@$(STAGE) 'regenerate' tools/regen

hashes: ## Renew the sums of what pip installs (packaging/pip-*.lock) from the versions of packaging/pip-*.txt
	@$(STAGE) 'install what renews them' tools/bootstrap core hashes
	@$(STAGE) 'ask the index' tools/hashes

sbom: ## Write build/sbom.cdx.json: what a release of this tree is made of, as CycloneDX has it
	@$(STAGE) 'install what it needs' tools/bootstrap core test bridge
	@$(MAKE) build-release WHAT='--target mf-controller mf-relay mf-bridge'
	@$(STAGE) 'write the bill of materials' $(PY) tools/sbom.py build/release build/sbom.cdx.json

vsix: ## Pack the extension for Visual Studio Code, build/mfidl.vsix; its language client comes from npm
	@$(STAGE) 'pack the extension' python3 tools/vsix.py build/mfidl.vsix

docs: ## Build the site of the documentation in build/docs/, with the references of both runtimes
	@$(STAGE) 'install what the site needs' tools/bootstrap core docs
	@$(STAGE) 'links of the documentation' $(PY) tools/check_links.py
	@$(STAGE) 'public headers' $(PY) -m tools.read_headers
	@$(STAGE) 'site of the documentation' $(PY) -m sphinx -W --keep-going -q -j auto -c docs . build/docs

clean: ## Remove what the build made (.venv and ccache stay)
	@find build -mindepth 1 -maxdepth 1 ! -name .bootstrap.lock -exec rm -rf {} +
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .grimp_cache .hypothesis

# The stages below are parts of the commands above.
.PHONY: checks sanitizers build-demo build-release build-release-clang build-debug build-clang-asan build-clang-tsan

# What codespell reads; its settings and the project's words are in pyproject.toml.
SPELLED := $(wildcard *.md) Makefile bench cli cmake docs editors examples mfidl packaging runtime templates tests tools

checks:
	@$(STAGE) 'ruff' $(PY) -m ruff check -q .
	@$(STAGE) 'ruff format' $(PY) -m ruff format -q --check .
	@$(STAGE) 'mypy --strict' $(PY) -m mypy --no-error-summary
	@PYTHONPATH="$$PWD:$$PWD/runtime/python:$$PWD/cli" $(STAGE) 'floors, Python' lint-imports --no-logo # of this tree, and not of the one that is installed
	@$(STAGE) 'floors, C++' $(PY) tools/check_include_ranks.py
	@$(STAGE) 'links of the documentation' $(PY) tools/check_links.py
	@$(STAGE) 'form of the documentation' $(PY) -m tools.check_pages
	@$(STAGE) 'words of texts' $(PY) -m tools.check_words
	@$(STAGE) 'spelling' $(PY) -m codespell_lib $(SPELLED:%=./%)
	@$(STAGE) 'clang-format' tools/clang_format --check

sanitizers:
	@$(MAKE) build-clang-asan WHAT='--target mf_tests mf_native'
	@MF_BUILD_DIR=$(CURDIR)/build/clang-asan MF_TEST_NATIVE=1 $(STAGE) 'native codec of Python, address and undefined-behaviour sanitizers' tools/with_asan $(PY) -m pytest -q -k 'not nor_memory_are_kept' tests/python/native/test_same_values.py tests/python/native/test_construct.py tests/python/native/test_changed_arrays.py tests/python/native/test_same_frames.py tests/python/native/test_same_gathering.py tests/python/native/test_same_answers.py tests/python/native/test_same_first_steps.py tests/python/native/test_same_awaiting.py tests/python/protocol/test_session.py tests/python/codec/test_arrays.py
	@$(STAGE) 'C++ tests, address and undefined-behaviour sanitizers' $(CHANCE) ctest --preset clang-asan -j $(JOBS)
	@$(MAKE) build-clang-tsan WHAT='--target mf_test_link mf_test_streams'
	@$(STAGE) 'C++ tests of links and streams, thread sanitizer' $(CHANCE) ctest --preset clang-tsan -j $(JOBS) -L '$(RACES)'

build-demo build-release build-release-clang build-debug build-clang-asan build-clang-tsan: build-%:
	@$(STAGE) 'configure $*' cmake --preset $* --log-level=WARNING
	@$(STAGE) 'build $*' cmake --build --preset $* -j $(JOBS) $(WHAT)
