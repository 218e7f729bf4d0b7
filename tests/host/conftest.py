"""Rude programs as agents: `rude(mode)` gives the path of an executable (see misbehaving.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.launching import python_launcher

PROGRAM = Path(__file__).with_name("misbehaving.py")

Rude = Callable[[str], Path]


@pytest.fixture
def rude(tmp_path: Path) -> Rude:
    def make(mode: str) -> Path:
        return python_launcher(tmp_path / f"claude-{mode}", PROGRAM, mode)

    return make
