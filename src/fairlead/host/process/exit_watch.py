"""How the event loop learns that a child has ended, without a thread for each child.

On Linux a pidfd becomes readable when its process ends. Elsewhere, and on kernels before 5.3, a
thread waits for the child, as asyncio's own default watcher does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable

__all__ = ["watch_exit"]

Ended = Callable[[int], None]


def watch_exit(child: subprocess.Popen[bytes], ended: Ended) -> None:
    """Call `ended` in the running event loop with the exit code of a child, once it has ended."""
    loop = asyncio.get_running_loop()
    try:
        pidfd = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        _watch_in_thread(loop, child, ended)
        return
    watch = _Pidfd(loop, pidfd, child, ended)
    try:
        loop.add_reader(pidfd, watch.readable)
    except NotImplementedError:
        _watch_in_thread(loop, child, ended)


class _Pidfd:
    """A file descriptor that refers to a process; closed with this object at the latest."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pidfd: int,
        child: subprocess.Popen[bytes],
        ended: Ended,
    ) -> None:
        self._loop = loop
        self._pidfd = pidfd
        self._child = child
        self._ended = ended

    def readable(self) -> None:
        """The process has ended: reap it, which does not wait any more."""
        self._loop.remove_reader(self._pidfd)
        self._close()
        self._ended(self._child.wait())

    def _close(self) -> None:
        pidfd, self._pidfd = self._pidfd, -1
        if pidfd >= 0:
            os.close(pidfd)

    def __del__(self) -> None:
        self._close()  # The loop was closed before the process ended.


def _watch_in_thread(
    loop: asyncio.AbstractEventLoop, child: subprocess.Popen[bytes], ended: Ended
) -> None:
    def wait() -> None:
        returncode = child.wait()
        try:
            loop.call_soon_threadsafe(ended, returncode)
        except RuntimeError:
            pass  # The loop was closed first: no code waits for the result.

    threading.Thread(target=wait, daemon=True, name="fairlead-wait").start()
