"""Programs of the tests as executable files, which is what an agent has to be."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

__all__ = ["executable", "python_launcher", "run_python"]


def executable(path: Path, script: str) -> Path:
    """A shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def python_launcher(path: Path, program: Path, *arguments: object, before: str = "") -> Path:
    """Runs a Python program with these arguments, then those it is given itself."""
    command = shlex.join([sys.executable, str(program), *map(str, arguments)])
    return executable(path, f'{before}exec {command} "$@"')


def run_python(program: str) -> tuple[str, str]:
    """What a program of its own process prints, and what it complains of."""
    completed = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return completed.stdout, completed.stderr
