"""A server with terminals, and a plain shell without anyone's settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.conftest import PATIENT, Served, serving


@pytest.fixture(autouse=True)
def plain_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ENV", raising=False)


@pytest.fixture
async def with_terminals(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path, PATIENT, terminal=True) as made:
        yield made
