"""Settings for all tests: property tests have no deadline, and in CI no dice; long matrices."""

from __future__ import annotations

import gc
import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings

from tests import matrix

pytest_plugins = ["tests.hard_limit"]

COMMON = settings(deadline=None, print_blob=True, max_examples=matrix.examples(100))
settings.register_profile("here", COMMON)
settings.register_profile("ci", COMMON, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "matrix(target): a long matrix, which this target of the Makefile runs whole"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    matrix.deselect(config, items)


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from what lives until the end: all modules and 10,000 tests.

    Otherwise it goes through more than a million objects again and again while tests run.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist tells the process that started it what it left; all workers leave the same."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left"] = dict(session.config.stash.get(matrix.LEFT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    output: dict[str, Any] = getattr(node, "workeroutput", {})
    node.config.stash[matrix.LEFT] = Counter(output.get("left", {}))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left = config.stash.get(matrix.LEFT, None)
    if left:
        terminalreporter.write_line(matrix.left_text(left))
