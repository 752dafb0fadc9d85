# Every task of the project. Nothing needs to be prepared: each target sets up what it uses.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help setup build demo test test-rust test-python lint format bench docs clean bpf-compiler packet-analyser

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE_SOURCES := $(shell find algorithms crates -name '*.[chr]' -o -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
RUST_FLAGS := --workspace --all-targets

help:
	@echo 'make demo    build Dumbbell and run a part of a real study to an HTML report'
	@echo 'make test    every test'
	@echo 'make lint    formatters, linters and type checkers, strict'
	@echo 'make build   the command $(BIN)/dumbbell'
	@echo 'make bench   speed of the simulator'
	@echo 'make docs    regenerate the reference in docs/'
	@echo 'make format  let the formatters rewrite the sources'
	@echo 'make clean   remove everything that make made, results excepted'

setup: $(VENV)/.tools
build: $(VENV)/.built

$(VENV)/.tools: pyproject.toml
	@command -v cargo >/dev/null || { echo 'Dumbbell needs Rust: install cargo 1.85 or later (https://rustup.rs)' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'Dumbbell needs a C compiler: apt install gcc' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Dumbbell needs Python 3.11 or later; name it with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'Dumbbell needs venv: apt install python3-venv' >&2; exit 1; }
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --group dev
	@touch $@

$(VENV)/.built: $(VENV)/.tools $(ENGINE_SOURCES)
	PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@touch $@

demo: build
	$(BIN)/dumbbell run li2007 --quick
	$(BIN)/dumbbell report li2007

test: test-rust test-python

test-rust: packet-analyser
	cargo test --workspace --locked

test-python: build bpf-compiler
	$(BIN)/pytest

# $(call tool,NAME,what is not tested without it): a package of Debian that tests run.
define tool
	@command -v $(1) >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(1) >/dev/null; \
	  else echo '$(1) is missing: $(2) (apt install $(1))' >&2; fi; }
endef

bpf-compiler:
	$(call tool,clang-19,algorithms are not compiled for the kernel)

packet-analyser:
	$(call tool,tshark,what Wireshark makes of captures is not tested)

lint: build
	cargo fmt --all --check
	cargo clippy $(RUST_FLAGS) --locked -- -D warnings
	$(BIN)/clang-format --dry-run --Werror algorithms/*.c algorithms/*.h
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	cargo fmt --all
	$(BIN)/clang-format -i algorithms/*.c algorithms/*.h
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench:
	cargo bench --workspace --locked --bench speed

docs: build
	$(BIN)/python -m dumbbell.docs

clean:
	rm -rf $(VENV) target report python/dumbbell/*.so
