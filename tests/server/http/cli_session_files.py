"""Session files of the CLI for tests of search and usage."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from tests.transcript.recordings import SESSIONS

__all__ = ["REAL", "write_files"]


REAL = sorted(f"{path.parent.name}/{path.stem}" for path in SESSIONS.glob("*/*.json"))


def write_files(projects: Path, name: str) -> str:
    """Put the files of a real session where a CLI keeps them; gives its id."""
    files = json.loads((SESSIONS / f"{name}.json").read_text())["files"]
    quiet = time.time() - 60.0
    session = ""
    for place, records in files.items():
        path = projects / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".jsonl"):
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
            session = path.stem if place.count("/") == 1 else session
        else:
            path.write_text(json.dumps(records))
        os.utime(path, (quiet, quiet))
    return session
