# Everything lives in .venv; a fresh machine needs Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CLI_VERSIONS := 2.1.38 2.1.325
ALL_CLI_VERSIONS := 2.1.29 2.1.38 2.1.120 2.1.220 2.1.325

ISOLATED := $(BIN)/python -m fairlead.testing.isolated --

.PHONY: help setup web run test check bench conformance bless clean lock

help:
	@echo "make run          start the server and open its web app (a demo agent where no claude is installed)"
	@echo "make test         all checks and tests, against real CLIs $(CLI_VERSIONS)"
	@echo "make web          build the web app into the package"
	@echo "make check        ruff, mypy --strict, svelte-check, vitest"
	@echo "make bench        Fairlead beside the official SDKs, and one server under load"
	@echo "make conformance  the same tests on $(ALL_CLI_VERSIONS); writes docs/compatibility.md"
	@echo "make bless        write the golden files anew"
	@echo "make clean        remove what was built here"

setup: $(STAMP)

$(STAMP): constraints.txt pyproject.toml
	@echo "setup: installing into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Node and npm come with the Python packages, so no other Node is needed.
NPM := cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm
NODE_STAMP := web/node_modules/.installed
WEB_SOURCES := $(shell find web/src web/worker web/public web/index.html web/vite.config.ts -type f 2>/dev/null)
WEB_APP := src/fairlead/server/static/index.html

$(NODE_STAMP): web/package-lock.json | $(STAMP)
	@echo "setup: installing the web app's packages"
	@$(NPM) ci --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB_APP): $(WEB_SOURCES) $(NODE_STAMP)
	@echo "web: building the web app"
	@$(NPM) run --silent build

web: $(WEB_APP)

run: setup web
	@$(BIN)/fairlead serve

check: setup $(NODE_STAMP)
	@echo "check: ruff, mypy --strict"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@echo "check: svelte-check, vitest"
	@$(NPM) run --silent check
	@$(NPM) run --silent test

BROWSER := tests/e2e/browser
OTHERS := tests --ignore $(BROWSER)
# What it measures needs a machine of its own, so it is a benchmark's, not a test run's.
SPEED := $(BROWSER)/test_performance.py

# $(call pytest,which tests,how to spread them): what failed beside others gets one try alone.
define pytest
$(ISOLATED) $(BIN)/pytest $(1) $(2) -q || \
	  { echo "test: what failed beside others runs once more, alone"; \
	    $(ISOLATED) $(BIN)/pytest $(1) -n 0 -q --last-failed --last-failed-no-failures none; }
endef

test: check web
	@echo "test: fetching the real CLIs $(CLI_VERSIONS) (once, into the user's cache)"
	@$(BIN)/python -m fairlead.testing.real_cli $(CLI_VERSIONS)
	@echo "test: fetching the official SDKs that drive the emulator (once)"
	@$(BIN)/python -m tests.emulator.sdks.install
	@echo "test: making sure of a Chromium"
	@$(BIN)/python -m tests.e2e.browser.chromium
	@echo "test: everything but the browser, without a network"
	@$(call pytest,$(OTHERS),-n 2 --dist worksteal)
	@echo "test: the web app in Chromium"
	@$(call pytest,$(BROWSER) --ignore $(SPEED),-n 2)

conformance: setup
	@$(BIN)/python -m fairlead.testing.real_cli $(ALL_CLI_VERSIONS)
	@$(BIN)/python -m tests.e2e.conformance $(ALL_CLI_VERSIONS)

bench: setup web
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.server_load
	@$(BIN)/python -m tests.e2e.browser.chromium
	@$(BIN)/pytest $(SPEED) -n 0 -q -s

bless: setup
	@$(BIN)/python -m tests.bless

lock: setup
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --extra dev --no-header pyproject.toml -o constraints.txt

clean:
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist bench/out
	@find . -name __pycache__ -type d -not -path './.git/*' -exec rm -rf {} +
