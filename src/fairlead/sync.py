"""Sessions for programs without asyncio.

    import fairlead.sync as fairlead

    with fairlead.Session(fairlead.Options(cwd="project")) as session:
        turn = session.send("What is 2 + 2?")
        for message in turn:
            ...
        print(turn.text)

A thread of its own runs the event loop; every method of the asynchronous session is here and
waits for its answer. Plain functions are fine as handlers: they run in threads and may block.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from fairlead.errors import SessionClosed
from fairlead.host.ask import Answer
from fairlead.host.ask import ask as ask_async
from fairlead.host.client import PromptContent
from fairlead.host.options import Options
from fairlead.host.readers import Reader
from fairlead.host.turn import Turn as AsyncTurn
from fairlead.live import Session as AsyncSession
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Result

__all__ = ["Messages", "Options", "Session", "Turn", "ask"]

T = TypeVar("T")


class _LoopThread:
    """An event loop that runs in a thread until it is stopped."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name="fairlead-loop")
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop and wait for it, here."""
        if not self._thread.is_alive():
            return _without_loop(work)
        outcome: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return outcome.result()
        except BaseException:
            outcome.cancel()
            raise

    def stop(self) -> None:
        """End the loop and its thread."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()


class Messages:
    """A blocking iterator over a reader."""

    def __init__(self, thread: _LoopThread, reader: Reader[AnyMessage] | AsyncTurn) -> None:
        self._thread = thread
        self._reader = reader

    def __iter__(self) -> Iterator[AnyMessage]:
        # Whole batches: a switch of threads for every message would cost more than the rest.
        while batch := self._thread.wait(self._reader.batch()):
            yield from batch


class Turn(Messages):
    """One prompt and what came of it."""

    def __init__(self, thread: _LoopThread, turn: AsyncTurn) -> None:
        super().__init__(thread, turn)
        self._turn = turn

    def wait(self) -> Result:
        """Wait for the result."""
        return self._thread.wait(self._turn.wait())

    def __getattr__(self, name: str) -> Any:
        # uuid, text, ok, result, cost_usd, structured_output, state, prompt
        return getattr(self._turn, name)


class Session:
    """A running CLI and everything one can do with it, each call waiting for its answer."""

    def __init__(self, options: Options | None = None) -> None:
        self._thread = _LoopThread()
        self._client = AsyncSession(options)

    def __enter__(self) -> Self:
        try:
            self._thread.wait(self._client.start())
        except BaseException:
            self._thread.stop()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """End the CLI and the thread; safe to call twice."""
        if self._thread.loop.is_closed():
            return
        try:
            self._thread.wait(self._client.close())
        finally:
            self._thread.stop()

    def send(self, prompt: PromptContent, **how: Any) -> Turn:
        """Queue a prompt and return its turn; see `fairlead.Session.send`."""
        return Turn(self._thread, self._thread.wait(self._client.send(prompt, **how)))

    def messages(self) -> Messages:
        """A new reader of every message from now on."""

        async def make() -> Reader[AnyMessage]:
            return self._client.messages()

        return Messages(self._thread, self._thread.wait(make()))

    def __getattr__(self, name: str) -> Any:
        """Every other method and property of the asynchronous session."""
        if inspect.iscoroutinefunction(getattr(AsyncSession, name, None)):
            return functools.partial(self._call, getattr(self._client, name))
        member = getattr(self._client, name)
        return functools.partial(self._call_plain, member) if callable(member) else member

    def _call(self, method: Callable[..., Coroutine[Any, Any, T]], *args: Any, **kw: Any) -> T:
        return self._thread.wait(method(*args, **kw))

    def _call_plain(self, method: Callable[..., T], *args: Any, **kw: Any) -> T:
        async def call() -> T:  # In the loop's thread: nothing here is safe in any other.
            return method(*args, **kw)

        return self._thread.wait(call())


def ask(prompt: PromptContent, options: Options | None = None) -> Answer:
    """Start a CLI, ask it one thing, end it, and return the answer."""
    return asyncio.run(ask_async(prompt, options))


def _without_loop(work: Coroutine[Any, Any, T]) -> T:
    """Finish a coroutine that has nothing left to wait for: what was unread can still be read."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    work.close()
    raise SessionClosed("wait for anything more")
