# Every task of the project. Nothing needs to be prepared: each target sets up what it uses.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: help setup build demo test tested test-rust test-python test-testbed fuzz soak behaviour lint lock format \
  bench bench-instructions bench-breakdown bench-cases bench-planning bench-start-up bench-gym learner bench-peers bench-testbed docs docs-site wheel archive commands front container notices validate validate-import agreement agreement-drawn linux-modules checklist hunt studies \
  clean coverage coverage-figures versions llvm-tools testbed-packages bpf-compiler packet-analyser iperf browser valgrind peers snapshots

# Commands and tests start hundreds of processes: without kept bytecode, each compiles NumPy and Polars again.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The index that pip uses, so that a mirror need be named once.
UV = UV_DEFAULT_INDEX="$${PIP_INDEX_URL:-$$($(BIN)/pip config get global.index-url 2>/dev/null || echo https://pypi.org/simple)}" $(BIN)/uv
ENGINE_SOURCES := $(shell find algorithms crates -name '*.[chr]' -o -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock behaviour/versions
C_SOURCES := $(wildcard algorithms/*.[ch] crates/testbed/bpf/*.[ch] crates/algorithm/src/*.c python/dumbbell/conformance/templates/*.c \
  tests/linux_modules/c/*.[ch] tests/gym/*.c)

# In recipes: succeeds if the testbed can be built here; cargo's arguments follow from it.
CAN_BUILD_TESTBED = [ "$$(uname)" = Linux ] && pkg-config --exists libelf zlib 2>/dev/null
WORKSPACE = --workspace $$({ $(CAN_BUILD_TESTBED); } || echo --exclude dumbbell-testbed)
TESTBED_FEATURE = $$({ $(CAN_BUILD_TESTBED); } && echo --features testbed)

# Tests have a separate profile, and all crates at once have the features of the package. So tests,
# linters and the package share one build.
MODULE := --features dumbbell-python/extension-module
AS_TESTED = --locked --profile ci $(WORKSPACE) $(MODULE)$$({ $(CAN_BUILD_TESTBED); } && echo ,dumbbell-python/testbed)
RUST_TESTS := target/rust-tests.json
# If make can, it prints the output of each part in one piece.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Tests of the testbed depend on real time, so other parts and sessions get only the processor time that they leave.
FOREMOST = $(PYTHON) tests/foremost.py
BESIDE = $$([ "$$(id -u)" != 0 ] || ! command -v chrt >/dev/null || echo chrt --idle 0)

help:
	@echo 'make demo    build Dumbbell, run a part of a study until its claims are decided, write ./report: two minutes'
	@echo 'make test    every test (parts: test-rust, test-python, test-testbed, bench-instructions)'
	@echo 'make fuzz    4,000 hostile inputs of every kind (SEED=n: those of an earlier time), then new examples for'
	@echo '             properties, for MINUTES=10; failures are kept'
	@echo 'make soak    random valid scenarios for MINUTES=20, checked for invariants; failures are kept'
	@echo 'make behaviour   record the engine'\''s behaviour and raise its version (ALGORITHMS=NAMES: only theirs; SAME=1: only the corpus)'
	@echo 'make snapshots   write the sentences that tests expect, of TESTS=FILES or all: read the difference'
	@echo 'make coverage   the share of lines that the tests reach, a figure for Python and one for Rust (also: make test COVERAGE=1)'
	@echo 'make versions   some tests with the lowest and the highest dependencies that pyproject.toml allows'
	@echo 'make lint    formatters, linters and type checkers, strict'
	@echo 'make build   the command $(BIN)/dumbbell (PGO=1: profile-guided optimisation, up to 15 % less time a run)'
	@echo 'make bench   speed of the simulator, next to that of a bare loop'
	@echo 'make bench-testbed   the rates that the emulator carries on this machine, if nothing else runs'
	@echo 'make bench-instructions   instructions per packet, compared with a baseline (ACCEPT=1: keep them as a new one)'
	@echo 'make bench-breakdown   the same by part and by function (WALK=CASE: the functions that nearly every ACK passes)'
	@echo 'make bench-cases   resolve again the scenarios of studies and of compare that these two run'
	@echo 'make bench-planning   processor time to expand each study to its runs'
	@echo 'make bench-start-up   processor time of commands that run no simulation'
	@echo 'make bench-gym   steps a second of the environments for learners, with a policy that does nothing'
	@echo 'make bench-peers   the same scenarios on ns-2, ns-3 and Dumbbell (MARKDOWN=FILE: also to a file)'
	@echo 'make docs    regenerate the reference in docs/ and the types of the contract with the engines'
	@echo 'make docs-site   the documentation as a site in ./site, its links checked'
	@echo 'make wheel   a wheel for machines without a compiler: dist/'
	@echo 'make container   that wheel in Debian 12, as an image: dumbbell (podman or docker)'
	@echo 'make learner   train the policy of examples/learnt, in two minutes of processor time, and judge it:'
	@echo '             docs/learner.md (EVALUATE=1: judge it alone)'
	@echo 'make validate   compare the engine with theory: docs/validation.md'
	@echo 'make validate-import   compare paths that dumbbell import fits with the true ones: docs/import-fidelity.md'
	@echo 'make agreement  compare simulator and kernel, in 70 minutes: docs/agreement.md'
	@echo 'make agreement-drawn   the same in random scenarios, in 80 minutes: docs/agreement-drawn.md (SEED=n)'
	@echo 'make linux-modules   compare our algorithms with the modules of Debian'\''s linux-source-6.12: docs/linux-modules.md'
	@echo 'make checklist   every algorithm by the clauses of RFC 9743, and BBR by the cases of its draft, in some minutes: docs/checklist.md'
	@echo 'make hunt    the worst scenario of each algorithm, alone and next to CUBIC, in 30 minutes of processor time:'
	@echo '             docs/hunt.md, docs/hunt-share.md, docs/hunt-harm.md (KERNEL_RUNS=3: on the kernel, too)'
	@echo 'make studies    every study whole, in hours: docs/studies and the site ./report'
	@echo 'make front   the verdicts on the statements of all studies: docs/studies/README.md (RESULTS=FOLDERS)'
	@echo 'make commands   the command and the expected time of each figure: docs/studies/commands.md'
	@echo 'make archive   the runs behind the pages, for a release: dist/STUDY-runs.tar (RESULTS=FOLDER, STUDIES=NAMES)'
	@echo 'make format  let the formatters rewrite the sources'
	@echo 'make lock    the newest Python packages that pyproject.toml allows: requirements.lock'
	@echo 'make notices    the licences of the libraries in the engine: LICENSES/third-party.txt'
	@echo 'make clean   remove everything that make made, results excepted'

setup: $(VENV)/.tools
build: bpf-compiler $(VENV)/$(if $(PGO),.pgo,.release)
tested: bpf-compiler $(VENV)/.ci $(RUST_TESTS)

$(VENV)/.tools: requirements.lock
	@command -v cargo >/dev/null || { echo 'Dumbbell needs Rust: install cargo 1.86 or later (https://rustup.rs)' >&2; exit 1; }
	@command -v cc >/dev/null || { echo 'Dumbbell needs a C compiler: apt install gcc' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Dumbbell needs Python 3.11 or later; name it with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'Dumbbell needs venv: apt install python3-venv' >&2; exit 1; }
	@awk '/^uv==/, !/\\$$/' $< > $@.uv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $@.uv
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r $<
	@rm $@.uv && touch $@

# The command is either the release or the build under test. A stamp names the present one.
$(VENV)/.release $(VENV)/.ci: $(VENV)/.%: $(VENV)/.tools $(VENV)/.features pyproject.toml $(ENGINE_SOURCES)
	PIP_QUIET=1 PIP_NO_INDEX=1 $(BIN)/maturin develop --locked --profile $* --quiet $(TESTBED_FEATURE)
	@rm -f $(VENV)/.release $(VENV)/.ci $(VENV)/.pgo
	@touch $@

# Profile-guided optimisation: the release is built, run over typical scenarios, and built again with
# the profile of these runs. Results are the same.
HOST = $$(rustc -vV | sed -n 's/^host: //p')
LLVM_PROFDATA = $$(rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata
PROFILE := target/pgo/dumbbell.profdata
BY_PROFILE = RUSTFLAGS=-Cprofile-use=$(CURDIR)/$(PROFILE) CARGO_TARGET_DIR=target/pgo

# In recipes: succeeds if they are there, or can be had.
HAS_LLVM_TOOLS = { test -x $(LLVM_PROFDATA) || rustup component add llvm-tools >/dev/null 2>&1; }

llvm-tools:
	@$(HAS_LLVM_TOOLS) || { \
	  echo 'profile-guided optimisation needs llvm-tools of this Rust: rustup component add llvm-tools' >&2; exit 1; }

$(PROFILE): $(VENV)/.tools $(ENGINE_SOURCES) benches/train.py | llvm-tools
	rm -rf $(addprefix target/pgo/,raw wheel package)
	RUSTFLAGS=-Cprofile-generate=$(CURDIR)/target/pgo/raw CARGO_TARGET_DIR=target/pgo \
	  $(BIN)/maturin build --release --locked --quiet --target $(HOST) --out target/pgo/wheel
	$(BIN)/pip install --quiet --no-deps --target target/pgo/package target/pgo/wheel/*.whl
	PYTHONPATH=target/pgo/package $(BIN)/python benches/train.py
	$(LLVM_PROFDATA) merge --output $@ target/pgo/raw

$(VENV)/.pgo: $(VENV)/.tools $(VENV)/.features pyproject.toml $(PROFILE)
	PIP_QUIET=1 PIP_NO_INDEX=1 $(BY_PROFILE) \
	  $(BIN)/maturin develop --locked --release --quiet --target $(HOST) $(TESTBED_FEATURE)
	@rm -f $(VENV)/.release $(VENV)/.ci
	@touch $@

# The programs that cargo has built. Cargo knows best whether anything has changed.
.PHONY: $(RUST_TESTS)
$(RUST_TESTS): testbed-packages
	@mkdir -p $(@D)
	cargo test $(AS_TESTED) --no-run --message-format=json-render-diagnostics > $@

# Changes when the testbed becomes possible, so that make builds it then.
$(VENV)/.features: $(VENV)/.tools testbed-packages
	@features="$(TESTBED_FEATURE)"; echo "$$features" | cmp -s - $@ || echo "$$features" > $@

# Figures 16 to 18 of Li, Leith and Shorten: how BIC-TCP and H-TCP flows share a path after the second
# one starts. Their runs are whole, and more are added until the five claims about them are decided, some
# for the authors and some against. Quick runs would leave most claims open. 1.4 G packets.
DEMO = li2007:fig16,fig17,fig18

demo: build
	$(BIN)/dumbbell run $(DEMO) --until-decided --at-most 20
	$(BIN)/dumbbell claims $(DEMO) --brief
	$(BIN)/dumbbell report $(DEMO)

# The build comes first, then all parts at the same time. The output of each part comes in one piece.
test: bpf-compiler packet-analyser iperf browser valgrind testbed-packages
	@$(MAKE) --no-print-directory -j2 tested
	@echo 'four parts run side by side; what each says comes when it ends'
	@$(MAKE) --no-print-directory -j4 --keep-going $(SYNC) \
	  test-testbed test-python test-rust bench-instructions
	@$(if $(COVERAGE),$(MAKE) --no-print-directory coverage-figures)
	@echo '$(BIN)/dumbbell is what was tested, with all checks in it: `make build` makes it fast again'

# Workers cannot write them, so tests run one after the other.
snapshots: $(VENV)/.ci
	-$(BIN)/pytest -m 'not testbed' -p no:xdist --inline-snapshot=create,fix $(TESTS)
	git diff --stat -- tests

test-rust: $(RUST_TESTS) packet-analyser
	$(BESIDE) $(PYTHON) tests/run_rust.py --without testbed --beside 2 $<
	env -u MAKEFLAGS -u MFLAGS $(BESIDE) cargo test $(AS_TESTED) --doc

# Two workers more than processors, as some tests wait. Small tables gain nothing from threads of Polars.
test-python: $(VENV)/.ci bpf-compiler packet-analyser browser
	POLARS_MAX_THREADS=1 $(BESIDE) $(BIN)/pytest -m 'not testbed' --numprocesses $$(($$(nproc) + 2)) --dist loadfile --no-loadscope-reorder \
	  $(if $(COVERAGE),--cov dumbbell --cov-report=)

# In real time, so one after the other. Most of the Rust ones make namespaces. Other files need not be
# collected for a twentieth of the tests.
test-testbed: $(RUST_TESTS) $(VENV)/.ci bpf-compiler iperf
	@[ "$$(id -u)" = 0 ] || echo "the testbed's own tests need root: they are not run" >&2
	! { [ "$$(id -u)" = 0 ] && $(CAN_BUILD_TESTBED); } || $(FOREMOST) $(PYTHON) tests/run_rust.py --crate testbed $<
	$(BIN)/pytest -m testbed $$(grep -rl --include='test_*.py' 'mark\.testbed' tests | sort)

# The share of lines that the tests reach: also at the end of `make test COVERAGE=1`, as in CI.
export COVERAGE_FILE := $(CURDIR)/target/.coverage

coverage: COVERAGE := 1
coverage: test-python
	@$(MAKE) --no-print-directory coverage-figures

# Rust is built once more for it, with counters.
coverage-figures:
	@echo "Python: tests reach $$($(BIN)/coverage report --format=total --precision=1) % of lines"
	@if $(HAS_LLVM_TOOLS); then \
	  $(PYTHON) tests/rust_coverage.py --locked --profile ci --workspace --exclude dumbbell-testbed --exclude dumbbell-python; \
	else echo 'Rust: no figure without llvm-tools (rustup component add llvm-tools)'; fi

# Deprecations of a newer library that an older one uses are no fault of ours, and the reference in docs/
# is that of the pinned versions. The package comes from python/, with its name and version as installed.
VERSIONS := lowest-direct highest
TRIED := tests/base tests/quantities tests/inference tests/scenario/test_scenario.py tests/figures/test_overlays.py \
  tests/store/test_run_folder.py tests/experiments/test_compare.py tests/experiments/test_tune.py \
  tests/execution/test_cluster.py tests/gym tests/serve/test_serve.py tests/cli/test_csv.py

versions: $(VENV)/.ci
	for tried in $(VERSIONS); do \
	  echo "versions: $$tried" && \
	  $(UV) venv --quiet --clear --python $(BIN)/python target/versions/$$tried && \
	  $(UV) pip compile --quiet --resolution $$tried --all-extras --no-header --no-annotate \
	    --output-file target/versions/$$tried.txt pyproject.toml && \
	  $(UV) pip install --quiet --python target/versions/$$tried/bin/python -r target/versions/$$tried.txt \
	    'pytest>=9,<10' 'hypothesis>=6,<7' 'inline-snapshot>=0.36,<1' httpx 'httpx2>=2,<3' jsonschema && \
	  cp -r $(VENV)/lib/python3*/site-packages/dumbbell-*.dist-info target/versions/$$tried/lib/python3*/site-packages/ && \
	  PYTHONPATH=$(CURDIR)/python target/versions/$$tried/bin/python -m pytest -p no:cacheprovider \
	    -W default::DeprecationWarning -k 'not reference_is_up_to_date' $(TRIED) || exit 1; \
	done

fuzz: $(RUST_TESTS) $(VENV)/.ci
	PYTHONPATH=tests $(BIN)/python -m hostile $(if $(SEED),--seed $(SEED))
	$(BIN)/python tests/fuzz.py --minutes $(or $(MINUTES),10) $<

# SEED=n draws the scenarios of an earlier time again. Failures are written to soak-failures/.
soak: $(VENV)/.ci
	MALLOC_ARENA_MAX=1 PYTHONPATH=tests $(BIN)/python tests/soak.py --minutes $(or $(MINUTES),20) $(if $(SEED),--seed $(SEED))

# Records the engine's behaviour, and raises the versions under which results are stored.
behaviour: $(RUST_TESTS)
	BEHAVIOUR='$(if $(SAME),same,$(or $(ALGORITHMS),engine))' $(PYTHON) tests/run_rust.py --crate simulator $< -- \
	  the_engine_does_what_it_did --nocapture

# $(call packages,COMMAND THAT SUCCEEDS WITH THEM,NAMES,the consequence without them,OPTIONS OF APT): of Debian.
# One call at a time, also under `make -j`, and after any other program that installs packages just now.
define packages
	@mkdir -p target
	@{ $(1); } >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && flock 9 && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=600 $(4) $(2) >/dev/null; \
	} 9>target/packages.lock || echo '$(2) missing: $(3) (apt install $(2))' >&2
endef

testbed-packages:
	@[ "$$(uname)" = Linux ] || echo 'not Linux: the simulator is built without the testbed' >&2
	$(call packages,[ "$$(uname)" != Linux ] || pkg-config --exists libelf zlib,pkg-config libelf-dev zlib1g-dev,the simulator is built without the testbed)

bpf-compiler:
	$(call packages,command -v clang-19,clang-19,algorithms are not compiled for the kernel)

packet-analyser:
	$(call packages,command -v tshark && command -v tcpdump,tshark tcpdump,captures of Wireshark and tcpdump are not tested)

browser:
	$(call packages,command -v chromium,chromium,pages of reports are not opened in a browser)

iperf:
	$(call packages,command -v iperf3,iperf3,the traffic of the testbed is not compared with iperf3)

# Of either build, whichever is there.
lint: bpf-compiler $(or $(wildcard $(VENV)/.pgo),$(if $(wildcard $(VENV)/.release),$(VENV)/.release,$(VENV)/.ci))
	cargo fmt --all --check
	cargo clippy $(AS_TESTED) --all-targets -- -D warnings
	cargo clippy --locked --profile ci $(WORKSPACE) $(MODULE) --all-targets -- -D warnings
	$(BIN)/clang-format --dry-run --Werror $(C_SOURCES)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	PYTHONPATH=python MYPYPATH=python $(BIN)/stubtest dumbbell._core
	$(BIN)/pip check
	PYTHONPATH=tools $(BIN)/python -m reference --check
	$(BIN)/python tools/docs_site.py target/site
	$(BIN)/python tools/prose.py
	$(BIN)/python tools/asserted.py
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

# The licences of libraries in the engine, after a change of Cargo.lock.
notices: setup
	$(BIN)/python tests/notices.py

lock: setup
	$(UV) pip compile --quiet --universal --python-version 3.11 --upgrade --group dev --generate-hashes \
	  --no-annotate --custom-compile-command 'make lock' --output-file requirements.lock pyproject.toml

format: setup
	cargo fmt --all
	$(BIN)/clang-format -i $(C_SOURCES)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench:
	cargo bench $(WORKSPACE) --locked --bench speed

bench-cases: build
	$(BIN)/python benches/real_cases.py

bench-planning: build
	$(BIN)/python benches/planning.py

bench-start-up: build
	$(BIN)/python benches/start_up.py

bench-gym: build
	$(BIN)/python benches/environments.py

bench-testbed: testbed-packages bpf-compiler
	cargo bench -p dumbbell-testbed --locked --bench rates

bench-instructions: valgrind
	$(BESIDE) cargo bench -p dumbbell-simulator --locked --bench instructions -- $(if $(ACCEPT),--accept)

bench-breakdown: setup valgrind symbolizer
	$(BIN)/python benches/breakdown.py $(if $(WALK),--walk '$(WALK)')

symbolizer:
	$(call packages,command -v llvm-symbolizer,llvm,no function can be named)

valgrind:
	$(call packages,command -v valgrind,valgrind,instructions are not counted,--no-install-recommends)

bench-peers: build peers
	$(BIN)/python benches/peers/compare.py $(if $(ONLY),--only '$(ONLY)') $(if $(MARKDOWN),--markdown $(MARKDOWN))

# Large, so nothing else asks for them.
peers:
	$(call packages,command -v ns && test -e /usr/include/ns3/core-module.h,g++ ns2 libns3-dev,ns-2 and ns-3 are not measured,--no-install-recommends)

docs: build
	PYTHONPATH=tools $(BIN)/python -m reference

# Executes the example notebooks and stores their outputs.
notebooks: build
	$(BIN)/python tests/notebook_outputs.py

# A link that leads nowhere, to a page or to a heading, is an error.
docs-site: setup
	PYTHONPATH=python $(BIN)/python tools/docs_site.py site
	@echo 'site/index.html; with search: $(BIN)/python -m http.server --directory site'

# The commit of the wheel, which reports state.
COMMIT := python/dumbbell/commit.txt

# Without the testbed, which would bind it to this machine's libelf. Its name has the version of glibc that
# the code needs. WHEEL has more arguments of maturin (docs/install.md).
wheel: setup
	rm -rf dist
	@$(MAKE) --no-print-directory $(PROFILE) || echo 'the wheel is built without it, up to 15 % slower' >&2
	trap 'rm -f $(COMMIT)' EXIT; \
	PYTHONPATH=python $(BIN)/python -m dumbbell.base.tree > $(COMMIT) && \
	$$([ ! -e $(PROFILE) ] || echo env $(BY_PROFILE)) \
	  $(BIN)/maturin build --release --locked --out dist $(WHEEL) && \
	$(BIN)/python tests/wheel.py dist/*.whl

# The runs behind the pages of studies, a file for each study (RESULTS=FOLDER).
archive: build
	$(BIN)/dumbbell store archive $(or $(STUDIES),$(notdir $(wildcard studies/*))) \
	  --results $(or $(RESULTS),results) --output dist

# The time of each figure, from a run of each test.
commands: build
	PYTHONPATH=tools $(BIN)/python -m artifact commands --markdown docs/studies/commands.md

# The verdicts on all statements (RESULTS='FOLDER FOLDER', if each study has separate folders).
FRONT = PYTHONPATH=tools $(BIN)/python -m artifact front --markdown docs/studies/README.md \
  --figure docs/images/studies.svg $(addprefix --results ,$(or $(RESULTS),results))

front: build
	$(FRONT)

CONTAINERS = $$(for tool in podman docker; do $$tool info >/dev/null 2>&1 && echo $$tool && break; done)

container:
	@[ -n "$(CONTAINERS)" ] || { echo 'neither podman nor docker works here: apt install podman; or, elsewhere,' \
	  '`make wheel` and `podman build --file Containerfile --tag dumbbell dist`' >&2; exit 1; }
	@$(MAKE) --no-print-directory wheel
	$(CONTAINERS) build --file Containerfile --tag dumbbell dist

# One thread of NumPy, so that the same seed gives the same weights.
learner: build
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=tools $(BIN)/python -m learner $(if $(EVALUATE),--evaluate)

# The page is written even if something is outside its band; then the exit code is 1.
validate: build
	PYTHONPATH=tools $(BIN)/python -m fidelity --engine simulator --markdown docs/validation.md

# In real time, in part. The page lists values outside their bands; then the exit code is 1.
validate-import: build iperf
	PYTHONPATH=tools $(BIN)/python -m fidelity.imported --markdown docs/import-fidelity.md

# In real time: leave the machine alone meanwhile. Finished runs are kept; SEED, which is printed at the
# start, draws the same scenarios again, so that an interrupted command resumes.
agreement: build
	PYTHONPATH=tools $(BIN)/python -m fidelity --engine testbed --results results-agreement \
	  --markdown docs/agreement.md --figure docs/images/agreement.svg

agreement-drawn: build
	PYTHONPATH=tools $(BIN)/python -m fidelity --engine testbed --results results-agreement --drawn 60 --further 40 \
	  --draw-seed $(or $(SEED),$(shell date +%s)) --markdown docs/agreement-drawn.md

# Installs the package by apt, or prints why it cannot. No file of Linux leaves target/linux-modules.
linux-modules: setup
	PYTHONPATH=python:tests $(BIN)/python -m linux_modules $(if $(ONLY),--only '$(ONLY)')

# The exit code 1 only means that some algorithm fails a clause.
checklist: build
	$(BIN)/dumbbell checklist $$($(BIN)/dumbbell list algorithms --csv | tail -n +2 | cut -d, -f1) --quick --at-most 2 \
	  --markdown docs/checklist.md || test $$? = 1
	$(BIN)/dumbbell checklist bbr bbr3 bbr3@draft --suite bbr-draft --markdown docs/bbr-cases.md || test $$? = 1

HUNT = --points 40 --duration 12s --where rate=1mbit..100mbit --runs 6
HUNT_BESIDE = --points 32 --duration 12s --where rate=1mbit..20mbit --runs 6

# $(call hunted,GOAL,OPTIONS,PAGE): all algorithms. Each finding is replayed from its file.
define hunted
	rm -f hunted/$(1)/*/*.toml
	for name in $$($(BIN)/dumbbell list algorithms --csv | tail -n +2 | cut -d, -f1); do \
	  $(BIN)/dumbbell hunt $$name --goal $(1) $(2) --output hunted/$(1)/$$name || exit 1; done
	PYTHONPATH=tools $(BIN)/python -m hunts --goal $(1) --hunted hunted/$(1) --hunt '$(2)' --markdown docs/$(3).md \
	  $(if $(KERNEL_RUNS),--kernel-runs $(KERNEL_RUNS))

endef

# Finished runs are kept, and the same command resumes.
hunt: build
	$(call hunted,goodput,$(HUNT),hunt)
	$(call hunted,share,$(HUNT_BESIDE),hunt-share)
	$(call hunted,harm,$(HUNT_BESIDE),hunt-harm)

# Finished runs are kept, and the same command resumes.
studies: build
	mkdir -p docs/studies
	failed=; for study in $(notdir $(wildcard studies/*)); do \
	  $(BIN)/dumbbell run $$study || failed="$$failed $$study"; \
	  $(BIN)/dumbbell claims $$study --markdown docs/studies/$$study.md || exit 1; done; \
	$(BIN)/dumbbell claims kumazoe2012 --over reading --markdown docs/studies/kumazoe2012-readings.md && \
	$(BIN)/dumbbell report --all && $(FRONT) && \
	test -z "$$failed" || { echo "runs of these studies failed:$$failed" >&2; exit 1; }

clean:
	rm -rf $(VENV) target report site dist python/dumbbell/*.so
