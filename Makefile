# Every task of the project. Nothing needs to be prepared: each target sets up what it uses.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help setup build demo test test-rust test-python lint format bench bench-instructions \
  bench-peers bench-testbed docs validate agreement studies clean testbed-packages bpf-compiler packet-analyser iperf browser valgrind peers

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE_SOURCES := $(shell find algorithms crates -name '*.[chr]' -o -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
C_SOURCES := $(wildcard algorithms/*.[ch] crates/testbed/bpf/*.[ch] crates/algorithm/src/*.c python/dumbbell/own/templates/*.c)

# In recipes: whether the testbed can be built here, and what that makes of cargo's arguments.
CAN_BUILD_TESTBED = [ "$$(uname)" = Linux ] && pkg-config --exists libelf zlib 2>/dev/null
WORKSPACE = --workspace $$({ $(CAN_BUILD_TESTBED); } || echo --exclude dumbbell-testbed)
TESTBED_FEATURE = $$({ $(CAN_BUILD_TESTBED); } && echo --features $(1)testbed)

help:
	@echo 'make demo    build Dumbbell and run a part of a real study to an HTML report'
	@echo 'make test    every test'
	@echo 'make lint    formatters, linters and type checkers, strict'
	@echo 'make build   the command $(BIN)/dumbbell'
	@echo 'make bench   speed of the simulator, beside that of a bare loop'
	@echo 'make bench-testbed   the rates that the emulator carries on this machine, if left alone'
	@echo 'make bench-instructions   instructions per packet, held to a baseline (ACCEPT=1: to a new one)'
	@echo 'make bench-peers   the same scenarios on ns-2, ns-3 and Dumbbell (MARKDOWN=FILE: also to a file)'
	@echo 'make docs    regenerate the reference in docs/'
	@echo 'make validate   hold the engine to theory: docs/validation.md'
	@echo 'make agreement  hold simulator and kernel to each other, in an hour: docs/agreement.md'
	@echo 'make studies    every study whole, in hours: docs/studies and the site ./report'
	@echo 'make format  let the formatters rewrite the sources'
	@echo 'make clean   remove everything that make made, results excepted'

setup: $(VENV)/.tools
build: bpf-compiler $(VENV)/.built

$(VENV)/.tools: pyproject.toml
	@command -v cargo >/dev/null || { echo 'Dumbbell needs Rust: install cargo 1.86 or later (https://rustup.rs)' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'Dumbbell needs a C compiler: apt install gcc' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Dumbbell needs Python 3.11 or later; name it with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'Dumbbell needs venv: apt install python3-venv' >&2; exit 1; }
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	@touch $@

$(VENV)/.built: $(VENV)/.tools $(VENV)/.features $(ENGINE_SOURCES)
	PIP_QUIET=1 $(BIN)/maturin develop --release --quiet $(call TESTBED_FEATURE)
	@touch $@

# Changes when the testbed becomes possible, so that it is built then.
$(VENV)/.features: $(VENV)/.tools testbed-packages
	@features="$(call TESTBED_FEATURE)"; echo "$$features" | cmp -s - $@ || echo "$$features" > $@

demo: build
	$(BIN)/dumbbell run li2007 --quick
	$(BIN)/dumbbell report li2007

test: test-rust test-python bench-instructions

# Most of the testbed's own tests make namespaces.
test-rust: packet-analyser testbed-packages bpf-compiler iperf
	@[ "$$(id -u)" = 0 ] || echo "the testbed's own tests need root: they are not run" >&2
	cargo test $(WORKSPACE) $$([ "$$(id -u)" = 0 ] || echo --exclude dumbbell-testbed) --locked

test-python: build bpf-compiler packet-analyser iperf browser
	$(BIN)/pytest

# $(call packages,COMMAND THAT SUCCEEDS WITH THEM,NAMES,what is not there without them): of Debian.
define packages
	@{ $(1); } >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2) >/dev/null; } \
	|| echo '$(2) missing: $(3) (apt install $(2))' >&2
endef

testbed-packages:
	@[ "$$(uname)" = Linux ] || echo 'not Linux: the simulator is built without the testbed' >&2
	$(call packages,[ "$$(uname)" != Linux ] || pkg-config --exists libelf zlib,pkg-config libelf-dev zlib1g-dev,the simulator is built without the testbed)

bpf-compiler:
	$(call packages,command -v clang-19,clang-19,algorithms are not compiled for the kernel)

packet-analyser:
	$(call packages,command -v tshark,tshark,what Wireshark makes of captures is not tested)

browser:
	$(call packages,command -v chromium,chromium,pages of reports are not opened in a browser)

iperf:
	$(call packages,command -v iperf3,iperf3,the traffic of the testbed is not held to iperf3)

lint: build
	cargo fmt --all --check
	cargo clippy $(WORKSPACE) $(call TESTBED_FEATURE,dumbbell-python/) --all-targets --locked -- -D warnings
	cargo clippy -p dumbbell-python --all-targets --locked -- -D warnings
	$(BIN)/clang-format --dry-run --Werror $(C_SOURCES)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	cargo fmt --all
	$(BIN)/clang-format -i $(C_SOURCES)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench:
	cargo bench $(WORKSPACE) --locked --bench speed

bench-testbed: testbed-packages bpf-compiler
	cargo bench -p dumbbell-testbed --locked --bench rates

bench-instructions: valgrind
	cargo bench -p dumbbell-simulator --locked --bench instructions -- $(if $(ACCEPT),--accept)

valgrind:
	@command -v valgrind >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends valgrind >/dev/null; fi; }

bench-peers: build peers
	$(BIN)/python benches/peers/compare.py $(if $(ONLY),--only '$(ONLY)') $(if $(MARKDOWN),--markdown $(MARKDOWN))

# Large, so nothing else asks for them.
peers:
	@{ command -v ns && test -e /usr/include/ns3/core-module.h; } >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends g++ ns2 libns3-dev >/dev/null; fi; }

docs: build
	$(BIN)/python -m dumbbell.docs

# Outside or not, the page is written; the exit code tells.
validate: build
	$(BIN)/dumbbell validate --engine simulator --markdown docs/validation.md

# In real time: leave the machine alone meanwhile. Finished runs are kept, the same command goes on.
agreement: build
	$(BIN)/dumbbell validate --engine testbed --results results/agreement --markdown docs/agreement.md \
	  --figure docs/images/agreement.svg

# Finished runs are kept, the same command goes on.
studies: build
	mkdir -p docs/studies
	failed=; for study in $(notdir $(wildcard studies/*)); do \
	  $(BIN)/dumbbell run $$study || failed="$$failed $$study"; \
	  $(BIN)/dumbbell claims $$study --markdown docs/studies/$$study.md || exit 1; done; \
	$(BIN)/dumbbell report --all && \
	test -z "$$failed" || { echo "runs of these studies failed:$$failed" >&2; exit 1; }

clean:
	rm -rf $(VENV) target report python/dumbbell/*.so
