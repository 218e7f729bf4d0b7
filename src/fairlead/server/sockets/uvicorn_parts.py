"""The parts of uvicorn that a server uses: all other modules import them from here.

`import uvicorn` also loads its command line with click and its reloader with multiprocessing: 2 MiB
of an idle server. Here they are loaded when a program uses them, so nothing is missing for a program
that runs uvicorn itself in the same process.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

COMMAND_LINE = "uvicorn.main"
NAMES = ("Server", "main", "run")
"""What the package `uvicorn` imports from its command line."""


def _import_package() -> None:
    """Import `uvicorn` with an empty module in place of its command line."""
    if "uvicorn" in sys.modules:
        return
    empty = sys.modules[COMMAND_LINE] = ModuleType(COMMAND_LINE)
    for name in NAMES:
        setattr(empty, name, None)
    try:
        package = import_module("uvicorn")
    finally:
        del sys.modules[COMMAND_LINE]
    for name in NAMES:
        delattr(package, name)

    def load(name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(f"module 'uvicorn' has no attribute {name!r}")
        command_line = import_module(COMMAND_LINE)
        for each in NAMES:  # `main` is the function, not the module of that name.
            setattr(package, each, getattr(command_line, each))
        return getattr(package, name)

    package.__dict__["__getattr__"] = load


_import_package()

from uvicorn.config import Config  # noqa: E402
from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: E402
from uvicorn.protocols.websockets.websockets_sansio_impl import (  # noqa: E402
    WebSocketsSansIOProtocol,
)
from uvicorn.server import Server  # noqa: E402

__all__ = ["Config", "H11Protocol", "Server", "WebSocketsSansIOProtocol"]
