"""Runs the function behind a tool: a coroutine in the event loop, anything else in a thread.

Each plain function runs in its own daemon thread instead of the shared pool: a tool may block for
minutes, and neither other tools nor the end of the program may wait for it. A thread cannot be
stopped: if the call is cancelled, its result is discarded.
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
    # A plain function may return a coroutine, for example a lambda around an async function.
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
            return  # cancelled in the meantime
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
            pass  # the loop was closed before the function returned

    threading.Thread(target=work, name="fairlead-tool", daemon=True).start()
    return await outcome
