"""Rude programs as agents: `rude(mode)` gives the path of an executable (see misbehaving.py)."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("misbehaving.py")

Rude = Callable[[str], Path]


@pytest.fixture
def rude(tmp_path: Path) -> Rude:
    def make(mode: str) -> Path:
        launcher = tmp_path / f"claude-{mode}"
        command = shlex.join([sys.executable, str(PROGRAM), mode])
        launcher.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        launcher.chmod(0o755)
        return launcher

    return make
