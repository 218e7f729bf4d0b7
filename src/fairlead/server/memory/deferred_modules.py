"""Modules of the standard library that libraries of the server import and an idle server never uses.

Each of them is replaced by a stand-in that loads it when its first name is used, so nothing is missing
for other code of the process. The commands that start a server do this before any of these libraries is
imported. A program that imports `fairlead.server` is left alone, because a stand-in is not the module:
what a program assigns to one has no effect on the other.
`importlib.util.LazyLoader` does not help: before Python 3.12 a second `import` counts as a use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["defer_modules"]

DEFERRED = (
    "calendar",  # By `email.utils`, to parse dates.
    "http.client",  # By Starlette, for the names of status codes; it loads the parser of emails.
    "importlib.metadata",  # By websockets, for versions that are not released; it loads zipfile.
    "logging.config",  # By uvicorn, for a configuration that the server does not have.
)
"""Together 1.8 MiB. Only modules that are imported as a whole (`import http.client`) can be deferred."""


def defer_modules() -> None:
    """Replace these modules, unless the process has loaded them already."""
    for name in DEFERRED:
        if name not in sys.modules:
            _defer(name)


def _defer(name: str) -> None:
    stand_in = ModuleType(name)

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is stand_in:
            sys.modules.pop(name, None)  # Another thread may do the same.
        value = stand_in.__dict__[attribute] = getattr(import_module(name), attribute)
        return value

    stand_in.__dict__["__getattr__"] = load
    sys.modules[name] = stand_in
    package, _, own_name = name.rpartition(".")
    if package:
        setattr(import_module(package), own_name, stand_in)
