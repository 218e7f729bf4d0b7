"""The folders of workers in the data folder of their front.

`fairlead serve` looks at them at each start, so they are apart from `worker`, which needs a node.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["FOLDER", "worker_folder", "workers_with_sessions"]

FOLDER = "workers"
"""The folder of all workers' folders in the data folder."""


def worker_folder(data: Path, number: int) -> Path:
    """The folder of a worker's database."""
    return data / FOLDER / str(number)


def workers_with_sessions(data: Path) -> int:
    """The highest number of a worker that was ever started with this data folder."""
    try:
        names = os.listdir(data / FOLDER)
    except OSError:
        return 0
    return max((int(name) for name in names if name.isascii() and name.isdigit()), default=0)
