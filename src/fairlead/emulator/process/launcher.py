"""The emulator as an executable file: a host can start it in place of `claude`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_launcher"]


def write_launcher(path: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Write a program that starts the emulator with this Python, with these variables set."""
    source = Path(__file__).parents[3]
    set_here = {**(environment or {})}
    lines = ["#!/bin/sh"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in set_here.items()]
    lines.append(f'export PYTHONPATH={shlex.quote(str(source))}"${{PYTHONPATH:+:$PYTHONPATH}}"')
    lines.append(f'exec {shlex.quote(sys.executable)} -m fairlead.emulator "$@"')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path
