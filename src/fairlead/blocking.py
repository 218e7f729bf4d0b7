"""An event loop in its own thread, for callers that block: the basis of `fairlead.sync`.

Works even if the caller's own thread runs a loop, as in a notebook.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from fairlead.errors import SessionClosed

__all__ = ["LoopThread", "run"]

T = TypeVar("T")


class LoopThread:
    """An event loop whose thread exists from `start` to `stop`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a loop to wait for."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread and its loop."""
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_run, args=(loop,), daemon=True, name="fairlead-loop"
        )
        self._thread.start()

    def stop(self) -> None:
        """End the loop and its thread; safe to call twice."""
        if self.running:
            assert self._loop is not None
            assert self._thread is not None
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it here."""
        if not self.running:
            return _without_loop(work)
        assert self._loop is not None
        outcome: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return outcome.result()
        except BaseException:
            outcome.cancel()
            raise

    def call(self, work: Callable[[], T]) -> T:
        """Call a function in the loop's thread, because sessions are not thread-safe."""

        async def called() -> T:
            return work()

        return self.wait(called())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, even if this thread runs an event loop."""
    thread = LoopThread()
    thread.start()
    try:
        return thread.wait(work)
    finally:
        thread.stop()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _without_loop(work: Coroutine[Any, Any, T]) -> T:
    """Finish a coroutine that needs not wait, such as one that reads buffered messages."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    work.close()
    raise SessionClosed("wait for anything more")
