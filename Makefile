# Everything is installed into .venv; a new machine needs Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLI_VERSIONS := 2.1.38 2.1.325
ALL_CLI_VERSIONS := 2.1.29 2.1.38 2.1.120 2.1.220 2.1.325

# Tests start hundreds of Python processes, and pytest rewrites 800 modules: let Python cache the
# compiled files even where the caller's environment says not to.
export PYTHONDONTWRITEBYTECODE :=

ISOLATED := $(BIN)/python -m fairlead.testing.isolated --

.PHONY: browser faults help setup web run test compiled-tests wheel-test check bench bench-compare bench-servers soak conformance bless clean lock

help:
	@echo "make run          start the server and open its web app (falls back to a demo agent if claude is not installed)"
	@echo "make test         run all checks, and at least one test of every rule, on the real CLIs $(CLI_VERSIONS)"
	@echo "make browser      run all tests of the web app in Chromium"
	@echo "make wheel-test   build sdist and wheel from a clean clone and test the installed commands"
	@echo "make web          build the web app into the package"
	@echo "make check        run ruff, mypy --strict, svelte-check and vitest"
	@echo "make bench        compare Fairlead with the official SDKs, and measure a server under load"
	@echo "make bench-compare REF=commit  run that commit and this code in turns, and print the ratios"
	@echo "make bench-servers  compare Fairlead with other servers, on the same scripted CLI"
	@echo "make soak         keep 50 sessions at work for an hour (SOAK_S seconds), and plot what grows"
	@echo "make faults       run all attacks and generated cases, and the long timing, fault and soak tests"
	@echo "make conformance  run the tests of real CLIs on $(ALL_CLI_VERSIONS); writes docs/compatibility.md"
	@echo "make bless        write the golden files again"
	@echo "make clean        remove all build output and the virtual environment"

setup: $(STAMP)

# Without compiling: Python compiles what is imported, which is a small part of the packages.
$(STAMP): constraints.txt pyproject.toml
	@echo "setup: installing into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Node and npm come with the Python packages, so no other Node is needed.
NPM := cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm
NODE_STAMP := web/node_modules/.installed

$(NODE_STAMP): web/package-lock.json | $(STAMP)
	@echo "setup: installing the web app's packages"
	@$(BIN)/python hatch_build.py packages
	@touch $@

# Builds only if the sources have changed since the last build.
web: setup $(NODE_STAMP)
	@$(BIN)/python hatch_build.py

run: setup web
	@$(BIN)/fairlead serve

# The Python half and the web half side by side: each uses one core.
check: setup $(NODE_STAMP)
	@$(MAKE) --no-print-directory -j2 check-python check-web

check-python: setup
	@echo "check: ruff, mypy --strict"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

check-web: setup $(NODE_STAMP)
	@echo "check: svelte-check, vitest"
	@$(NPM) run --silent check
	@$(NPM) run --silent test

downloads: setup
	@echo "test: downloading the real CLIs $(CLI_VERSIONS) (once, into the user's cache)"
	@$(BIN)/python -m fairlead.testing.real_cli $(CLI_VERSIONS)
	@echo "test: downloading the official SDKs that drive the emulator (once)"
	@$(BIN)/python -m tests.emulator.sdks.install
	@echo "test: checking for Chromium"
	@$(BIN)/python -m tests.e2e.browser.chromium
	@echo "test: checking for nginx, Caddy, ssh, systemd-analyze, ip and nft"
	@$(BIN)/python -m tests.server.remote.programs

# pytest compiles the modules of tests when it collects them. Each worker would do that for itself.
COMPILED_TESTS := $(VENV)/.compiled-tests
compiled-tests: $(COMPILED_TESTS)

$(COMPILED_TESTS): $(STAMP) $(shell find tests -name '*.py')
	@$(BIN)/pytest tests --collect-only -q -n 0 -p no:cacheprovider > /dev/null
	@touch $@

# Downloads wait for the network while the checks compute. tests/suite.py then runs the tests.
test: setup $(NODE_STAMP)
	@$(MAKE) --no-print-directory -j3 downloads check-python check-web web compiled-tests
	@$(BIN)/python -m tests.suite

# All cases of the matrices of which `make test` runs a slice (tests/matrix.py).
MATRIX := FAIRLEAD_MATRIX=whole $(ISOLATED) $(BIN)/pytest tests -n 2 --dist worksteal -q

# All tests of the web app, of which `make test` runs at least one for each rule, page and kind of request.
browser: setup web downloads
	@FAIRLEAD_MATRIX=whole $(ISOLATED) $(BIN)/pytest tests/e2e/browser --ignore tests/e2e/browser/test_performance.py -n 2 --dist worksteal -q

# The long versions of tests; those of tests/timing and tests/faults assert times, so they need an
# otherwise idle machine.
faults: setup web downloads
	@$(MATRIX) -m "matrix(target='faults')"
	@FAIRLEAD_MATRIX=whole FAIRLEAD_TIMING=long $(ISOLATED) $(BIN)/pytest tests/timing -n 2 --dist worksteal -q
	@FAIRLEAD_HUB_EVENTS=100000 $(ISOLATED) $(BIN)/pytest tests/server/hub/test_hub_law.py -n 0 -q
	@FAIRLEAD_MATRIX=whole FAIRLEAD_FAULT_ROUNDS=10 FAIRLEAD_KILLS=100 FAIRLEAD_SOAK_S=120 $(ISOLATED) $(BIN)/pytest tests/faults -n 0 -q -s
	@FAIRLEAD_CLUSTER=1 FAIRLEAD_PAUSES=1000 FAIRLEAD_UPLINK_MS=300 $(ISOLATED) $(BIN)/pytest tests/fleet/bus/test_nats_bus.py tests/fleet/bus/test_thin_uplink.py tests/fleet/node/test_lease.py -n 0 -q -s
	@FAIRLEAD_TEST_WORKERS=2 $(ISOLATED) $(BIN)/pytest tests/server/sockets/test_sockets.py -n 0 -q
	@FAIRLEAD_MATRIX=whole FAIRLEAD_CLUSTER=1 FAIRLEAD_FLEET_KILLS=250 FAIRLEAD_FLEET_HEALED_S=2 FAIRLEAD_REVOKED_S=1 FAIRLEAD_REVOCATIONS=5 $(ISOLATED) $(BIN)/pytest tests/fleet/faults -n 0 -q -s

wheel-test: setup
	@$(BIN)/python -m tests.suite wheel

conformance: setup web downloads
	@$(BIN)/python -m fairlead.testing.real_cli $(ALL_CLI_VERSIONS)
	@$(BIN)/python -m tests.e2e.conformance $(ALL_CLI_VERSIONS)
	@echo "conformance: recordings and conversations of real CLIs"
	@$(MATRIX) -m "matrix(target='conformance')" --ignore tests/e2e/real_cli
	@echo "conformance: 15,000 generated permission calls, real CLI against policy"
	@$(ISOLATED) $(BIN)/python -m tests.e2e.real_cli.policy conform
	@echo "conformance: 500 generated conversations, real CLI against emulator"
	@$(ISOLATED) $(BIN)/python -m tests.e2e.conversations.differential $(CLI_VERSIONS) --count 500 --jobs 2 --write

bench: setup web
	@$(BIN)/python -m bench --save
	@$(BIN)/python -m bench.server_load --save
	@$(BIN)/python -m bench.plots
	@$(BIN)/python -m tests.e2e.browser.chromium
	@$(BIN)/pytest tests/e2e/browser/test_performance.py -n 0 -q -s

# Old and new code in alternating rounds: make bench-compare REF=HEAD~1 [ROUNDS=5]
bench-compare: setup web
	@test -n "$(REF)" || { echo "bench-compare: name the commit to compare with, such as REF=HEAD~1"; exit 2; }
	@$(BIN)/python -m bench.compare "$(REF)" $(if $(ROUNDS),--rounds $(ROUNDS))

# The other servers are installed once, which needs the network; they run on loopback only.
bench-servers: setup web
	@$(BIN)/python -m bench.servers --install
	@$(ISOLATED) $(BIN)/python -m bench.servers --save
	@$(BIN)/python -m bench.plots

SOAK_S ?= 3600
soak: setup web
	@$(ISOLATED) $(BIN)/python -m bench.soak --seconds $(SOAK_S) --save

bless: setup
	@$(BIN)/python -m tests.bless

lock: setup
	@$(BIN)/python -m pip install --quiet uv==0.13.7
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --extra dev --no-header pyproject.toml -o constraints.txt

clean:
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist bench/out
	@find . -name __pycache__ -type d -not -path './.git/*' -exec rm -rf {} +
