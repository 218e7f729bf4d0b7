"""The programs in the documents, run exactly as they are printed."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Program", "programs_of", "run_program"]

ROOT = Path(__file__).parents[1]

PROGRAM_S = 90.0
"""Limit of one program; the slowest starts a real CLI on a busy machine."""


PART = re.compile(
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$|^#+ (?P<heading>[^\n]+)$", re.DOTALL | re.MULTILINE
)
"""A fenced block or a heading; a comment inside a block is not a heading."""


@dataclass(frozen=True, slots=True)
class Program:
    """One Python block of a document, named by the heading above it and its position there."""

    name: str
    code: str


def programs_of(document: Path) -> list[Program]:
    """Every Python block of a document, in order."""
    programs: list[Program] = []
    heading, number = "", 0
    for part in PART.finditer(document.read_text("utf-8")):
        if part["heading"]:
            heading, number = part["heading"], 0
        elif part["language"] == "python":
            number += 1
            name = f"{heading} {number}" if number > 1 else heading
            programs.append(Program(name, part["code"]))
    return programs


async def run_program(code: str, folder: Path, env: dict[str, str]) -> str:
    """Run a program in a folder with this environment; what it printed, if it ended well."""
    script = folder / "program.py"
    script.write_text(code, "utf-8")
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(script),
        cwd=folder,
        env={"PYTHONPATH": os.pathsep.join(sys.path), **env},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PROGRAM_S):
            printed, complaint = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0, complaint.decode()
    return printed.decode()
