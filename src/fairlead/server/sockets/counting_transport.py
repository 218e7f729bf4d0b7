"""A transport that counts the bytes that its peer accepted, for a deadline by progress."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["CountingTransport"]


class CountingTransport:
    """Wraps a transport and counts the bytes that were written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.inner = transport
        self._written = 0

    @property
    def accepted(self) -> int:
        """Bytes that the peer's system accepted."""
        return self._written - self.inner.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self.inner.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
