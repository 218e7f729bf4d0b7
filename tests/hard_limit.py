"""A pytest plugin that ends the process of a test which its own timeout could not end.

pytest-timeout raises an exception in the main thread. A test that has hung can swallow it, and its
teardown can then wait for ever: for a task that ignores its cancellation, for a thread of an
executor, for a process. Without a second limit the whole run would hang with it.

A minute after the timeout of a test, this plugin prints the stack of every thread and ends the
process. pytest-xdist then reports the test as failed and starts another worker for the rest.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Generator

import pytest

__all__ = ["limit_of"]

_STDERR = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("grace", "seconds in which a test must end after its timeout", default="60")


def pytest_configure(config: pytest.Config) -> None:
    # pytest captures stderr during a test, and workers of xdist replace `sys.stderr`.
    assert sys.__stderr__ is not None
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[_STDERR])


def limit_of(item: pytest.Item) -> float | None:
    """The seconds after which the process of this test is ended; None if it has no timeout."""
    mark = item.get_closest_marker("timeout")
    values = [*mark.args, mark.kwargs.get("timeout")] if mark else []
    timeout = float(next((value for value in values if value is not None), 0) or 0)
    timeout = timeout or float(item.config.getini("timeout") or 0)
    return timeout + float(item.config.getini("grace")) if timeout else None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    limit = limit_of(item)
    if limit is None:
        return (yield)
    faulthandler.dump_traceback_later(limit, file=item.config.stash[_STDERR], exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
