"""The figures of the last benchmarks in one file, `bench/results.json`, by benchmark.

Each benchmark replaces its own part, so that a part can be measured again alone. `plots` draws it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["FILE", "load", "save"]

FILE = Path(__file__).parent / "results.json"


def load(file: Path = FILE) -> dict[str, Any]:
    """All parts; none if nothing was measured."""
    try:
        parts: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return parts


def save(part: str, figures: Any, file: Path = FILE) -> None:
    """Replace one part."""
    parts = {**load(file), part: figures}
    file.write_text(json.dumps(parts, indent=1, sort_keys=True) + "\n", "utf-8")
