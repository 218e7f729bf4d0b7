"""An idle server with one session has not loaded what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.launching import python_launcher
from tests.server.server_harness import AGENT

NOT_LOADED = (
    # Libraries that one would expect only where they are used.
    "apprise",
    "croniter",
    "cryptography",
    "mcp",
    "pydantic",
    "segno",
    "tree_sitter",
    "yaml",
    # What other libraries import although the server does not use it.
    "calendar",
    "click",
    "csv",
    "email.message",
    "html",
    "http.client",
    "importlib.metadata",
    "importlib.resources",
    "logging.config",
    "multiprocessing",
    "socketserver",
    "uvicorn.main",
    "uvicorn.supervisors",
    "zipfile",
    # What only some servers need.
    "sysconfig",
    "termios",
    "tomllib",
    "webbrowser",
    "zoneinfo",
    "fairlead.commands.serving.profile_checks",
    "fairlead.emulator",
    "fairlead.fleet.bus",
    "fairlead.fleet.gateway",
    "fairlead.fleet.node",
    "fairlead.server.bridge.bridge",
    "fairlead.server.terminal.terminals",
    # What the first request for a permission loads.
    "fairlead.guarding",
    "fairlead.permissions.choices",
    "fairlead.permissions.guard",
    "fairlead.permissions.policy",
    "fairlead.permissions.shell",
)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("idle")
    agent = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
    command = [sys.executable, "-m", "tests.server.memory.idle_server", str(folder), str(agent)]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    return set((folder / "modules").read_text().splitlines())


def test_an_idle_server_has_not_loaded_what_it_does_not_need(loaded: set[str]) -> None:
    unwanted = {
        name: [each for each in loaded if each == name or each.startswith(f"{name}.")]
        for name in NOT_LOADED
    }
    assert {name: modules for name, modules in unwanted.items() if modules} == {}


def test_an_idle_server_has_loaded_fewer_than_800_modules(loaded: set[str]) -> None:
    """A module takes 25 KiB on average. 740 are loaded; before, 900 were."""
    assert len(loaded) < 800


DEFERRED = """
from fairlead.commands.main import _parser
_parser(["serve"])
import http.client, importlib.metadata, logging.config, sys
assert not {"email.message", "zipfile", "logging.handlers"} & set(sys.modules)
assert http.client.responses[404] == "Not Found"
assert importlib.metadata.version("msgspec")
from logging.config import dictConfig
dictConfig({"version": 1})
from http.client import HTTPConnection
assert sys.modules["http.client"].HTTPConnection is http.client.HTTPConnection is HTTPConnection
assert sys.modules["zipfile"] and sys.modules["logging.handlers"]
"""

UVICORN = """
import fairlead.server.web_server, sys
assert "click" not in sys.modules
import uvicorn, uvicorn.server
assert uvicorn.Server is uvicorn.server.Server
assert callable(uvicorn.run) and uvicorn.main.name == "main" and "click" in sys.modules
try:
    uvicorn.nothing
except AttributeError as problem:
    assert "nothing" in str(problem)
"""


EMBEDDED = """
import fairlead.server.service, http.client, importlib.metadata, logging.config, sys
for name in ("calendar", "http.client", "importlib.metadata", "logging.config"):
    assert sys.modules[name].__spec__ is not None, name
"""


def test_a_program_that_imports_the_server_gets_the_modules_themselves() -> None:
    subprocess.run([sys.executable, "-c", EMBEDDED], check=True, timeout=60)


@pytest.mark.parametrize("program", [DEFERRED, UVICORN])
def test_what_is_loaded_late_is_complete_for_other_code_of_the_process(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
