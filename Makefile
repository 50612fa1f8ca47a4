# incast: what people and the project's checks run. `make` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Everything that goes into the extension module.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates -type f \( -name '*.rs' -o -name 'Cargo.toml' -o -path '*/src/*' -o -path '*/data/*' \) 2>/dev/null)

PRELOADED := python/incast/memory/libincast_memory.so

.DEFAULT_GOAL := help
.PHONY: help demo test sanitize bench lint format schema reference docs build clean
.DELETE_ON_ERROR:

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.built ## Build incast and run scenarios/quickstart.toml
	$(BIN)/incast run scenarios/quickstart.toml --output results/quickstart --overwrite

test: $(VENV)/.dev ## Run all tests, those of Rust and those of Python
	cargo test --workspace --locked
	cargo test --release --locked -p incast-sim --test snapshots --test fingerprints
	@$(MAKE) --no-print-directory $(VENV)/.testable
	$(BIN)/python -m pytest

# The option is rustc's own but not promised yet, hence RUSTC_BOOTSTRAP. What leaks are tables that tests make for good.
sanitize: ## Run the tests of the preloaded library under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --locked -p incast-memory \
		--target $$(rustc -vV | sed -n 's/^host: //p')

bench: ## Measure the speed of the simulator
	$(PYTHON) benches/run.py
	$(PYTHON) benches/deadlock.py

lint: $(VENV)/.dev ## Check formatting, types and idioms
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff format --check python tests tools benches
	$(BIN)/ruff check python tests tools benches
	$(BIN)/mypy

format: $(VENV)/.dev ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet python tests tools benches
	$(BIN)/ruff format python tests tools benches

schema: $(VENV)/.dev ## Write python/incast/schema.py anew from the Rust types
	$(BIN)/python tools/schema_py.py

reference: $(VENV)/.dev ## Write docs/reference anew from the Rust types
	$(BIN)/python tools/reference.py

docs: $(VENV)/.dev $(VENV)/.built ## Write into the pages of docs what commands print now
	$(BIN)/python tools/pages.py

build: $(VENV)/.built ## Build incast into .venv and stop there

clean: ## Remove everything that was built or run here
	rm -rf $(VENV) target results .pytest_cache .mypy_cache .ruff_cache python/incast/_core*.so $(PRELOADED)
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

$(VENV)/.built: $(SOURCES) $(VENV)/.demo $(PRELOADED)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked
	@touch $@ $(VENV)/.testable

# The library that `incast memory` preloads into programs: always optimised, as it is measured with them. It lies with the package.
$(PRELOADED): $(SOURCES)
	cargo build --release --locked -p incast-memory
	cp $(or $(CARGO_TARGET_DIR),target)/release/$(@F) $@

# Tests take the release build if it is current. Otherwise they take one that shares its libraries with `cargo test`, which
# saves building them twice; it replaces the release build.
$(VENV)/.testable: $(SOURCES) $(VENV)/.demo $(PRELOADED)
	@rm -f $(VENV)/.built
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked
	@touch $@
