"""Lines from the keyboard for an asyncio program, one reader at a time.

Reading blocks, so it runs in a daemon thread: a program that ends does not wait for a person to
press Enter. A line that was begun for a question that is gone must never answer the next one,
so it is thrown away and the next question asked again.
"""

from __future__ import annotations

import asyncio
import sys
import threading

__all__ = ["LineInput"]


class LineInput:
    """The keyboard."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._pending: asyncio.Future[str | None] | None = None

    async def read(self, prompt: str) -> str | None:
        """The next line without its line end; None at the end of input."""
        async with self._turn:
            if self._pending is not None:
                _say("\n  (that question is gone; press Enter)\n")
                if await asyncio.shield(self._pending) is None:
                    return None
            _say(prompt)
            self._pending = self._read_in_thread()
            line = await asyncio.shield(self._pending)
            self._pending = None
            return line

    def _read_in_thread(self) -> asyncio.Future[str | None]:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str | None] = loop.create_future()

        def wait_for_line() -> None:
            line = sys.stdin.readline()
            try:
                loop.call_soon_threadsafe(_resolve, typed, line)
            except RuntimeError:
                pass  # The program has ended meanwhile.

        threading.Thread(target=wait_for_line, daemon=True, name="fairlead-keyboard").start()
        return typed


def _resolve(typed: asyncio.Future[str | None], line: str) -> None:
    if not typed.done():
        typed.set_result(line.rstrip("\n") if line else None)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
