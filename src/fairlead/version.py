"""The version of this package, the same as in `pyproject.toml` (`tests/test_exports.py` compares them).

It is a constant because `importlib.metadata` would load `zipfile` and `csv` to find it: half a MiB of
an idle server.
"""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
