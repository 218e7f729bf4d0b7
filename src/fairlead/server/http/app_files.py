"""The page and the service worker of the web app for a server below a path. Pure.

Everything that the app loads is named relative to the page's base path, except by the page itself:
it is shown at many addresses, so its URLs are absolute and begin with a slash. Below a path each of
them gets the path in front. The service worker contains the hash of the page (decision 6), so the
hash changes with the page.
"""

from __future__ import annotations

import base64
import hashlib
import re

__all__ = ["page_below", "worker_below"]

_ABSOLUTE = re.compile(rb'(\s(?:data-base|href|src)=")/')
"""The start of each attribute of the page whose value is an absolute path."""

_BASE_LINE = b'const BASE = "/";\n'
"""The first line of the built service worker."""


def page_below(page: bytes, base: str) -> bytes:
    """The page for a server below `base`, which is empty at the root."""
    return _ABSOLUTE.sub(rb"\g<1>" + base.encode() + b"/", page)


def worker_below(worker: bytes, page: bytes, base: str) -> bytes:
    """The service worker for a server below `base`; `page` is the page at the root."""
    if not base:
        return worker
    moved = worker.replace(_BASE_LINE, f'const BASE = "{base}/";\n'.encode(), 1)
    return moved.replace(_hash(page), _hash(page_below(page, base)), 1)


def _hash(content: bytes) -> bytes:
    return base64.b64encode(hashlib.sha256(content).digest())
