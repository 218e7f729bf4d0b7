"""File descriptors of pipes that are closed exactly once, by the transport that gets them.

A file descriptor that is closed twice can be another file by then: between the two, a thread may have
opened a database or a folder and got the same number. uvloop does close twice. libuv closes the
descriptor of a pipe, and then uvloop closes the file object that it was given. asyncio only closes
the file object. So a transport gets an object that knows which loop will close the descriptor.
"""

from __future__ import annotations

import asyncio
import os
from typing import IO

__all__ = ["PipeEnd"]


class PipeEnd:
    """One end of a pipe, for `connect_read_pipe` or `connect_write_pipe`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, file: IO[bytes]) -> None:
        """Take the end over; the file is closed, so that it does not close the descriptor later."""
        self._fd = os.dup(file.fileno())
        file.close()
        # Only asyncio's own loops leave the descriptor to this object.
        self._is_ours = isinstance(loop, asyncio.BaseEventLoop)

    def fileno(self) -> int:
        """The descriptor, which stays valid until the transport has closed it."""
        return self._fd

    def close(self) -> None:
        """Close the descriptor if the loop does not do so itself; safe to call twice."""
        if self._is_ours:
            self._is_ours = False
            os.close(self._fd)
