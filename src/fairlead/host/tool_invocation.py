"""Runs the function behind a tool: a coroutine in the event loop, anything else in a thread.

Each plain function gets a daemon thread of its own rather than a place in the shared pool: a
tool may block for minutes, and neither the other tools nor the end of the program may wait
for it. A thread cannot be stopped: when the call is withdrawn its outcome is thrown away.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["invoke"]


async def invoke(function: Callable[..., Any], keywords: Mapping[str, Any]) -> Any:
    """The value the function returns; raises whatever the function raises."""
    if _is_async(function):
        return await function(**keywords)
    value = await _in_thread(functools.partial(function, **keywords))
    # A plain function may hand back a coroutine: a lambda around an async one does.
    return await value if inspect.isawaitable(value) else value


def _is_async(function: Callable[..., Any]) -> bool:
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    return inspect.iscoroutinefunction(function)


async def _in_thread(function: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    scope = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if outcome.done():
            return  # withdrawn meanwhile
        if error is None:
            outcome.set_result(value)
        else:
            outcome.set_exception(error)

    def work() -> None:
        value: Any = None
        error: BaseException | None = None
        try:
            value = scope.run(function)
        except StopIteration as stop:
            # A future refuses StopIteration.
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:  # noqa: BLE001 - carried over to the awaiting side
            error = raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # the loop was closed before the function came back: nobody waits

    threading.Thread(target=work, name="fairlead-tool", daemon=True).start()
    return await outcome
