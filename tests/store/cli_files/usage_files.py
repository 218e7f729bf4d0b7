"""Session files with usage records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.transcript.recordings import SESSIONS

__all__ = ["Record", "files_of"]


Record = dict[str, Any]


def files_of(name: str) -> tuple[str, list[list[Record]]]:
    """The id of a real session, and the records of its own file and of its subagents'."""
    files = json.loads((SESSIONS / f"{name}.json").read_text())["files"]
    own = next(file for file in files if file.endswith(".jsonl") and file.count("/") == 1)
    sides = [file for file in files if file.endswith(".jsonl") and file != own]
    return Path(own).stem, [files[own], *(files[file] for file in sides)]
