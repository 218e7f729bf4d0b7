"""The keyboard, for a program whose session runs in asyncio.

The main thread reads lines and the event loop runs in another thread: line editing blocks, and
only the main thread receives Ctrl-C while it does. A read that is no longer needed is ended by a
signal, so that it does not consume the next line.

An answer must come from a user who has read the question. On a terminal, a guarded read throws
away everything that was typed before the question was drawn and in the half second after it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import queue
import select
import signal
import socket
import sys
import termios
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fairlead.commands.console.history import History

__all__ = ["GUARD_S", "Interrupted", "Keyboard"]

GUARD_S = 0.5
"""How long input is ignored after a question was drawn, as in the web app."""

NUDGE_S = 0.02
NUDGES = 100
"""A signal that arrives just before a read blocks does not end it. So the event loop, which is
notified of each signal through a pipe, sends further signals until the read has ended."""

IGNORED = "  (ignored what was typed before the question could be read)"


class Interrupted(Exception):
    """Ctrl-C was pressed in place of an answer."""

    def __init__(self, *, typed: bool) -> None:
        super().__init__()
        self.typed = typed
        """Whether the line was not empty."""


class _Withdrawn(Exception):
    """The current read of the main thread is no longer needed."""


@dataclass(slots=True, eq=False)
class _Read:
    prompt: str
    guarded: bool
    remembered: bool
    on_line: Callable[[], None] | None
    answer: concurrent.futures.Future[str | None] = field(default_factory=concurrent.futures.Future)
    withdrawn: bool = False


class Keyboard:
    """Reads lines for one program."""

    def __init__(self) -> None:
        self.interactive = sys.stdin is not None and sys.stdin.isatty()
        self.turn = asyncio.Lock()
        """Hold it from the first line of a question to its answer."""
        self._editing = self.interactive and sys.stdout.isatty()
        self._history = History()
        self._reads: queue.SimpleQueue[_Read | None] = queue.SimpleQueue()
        self._reading: _Read | None = None
        """The current read of the main thread; only then may a signal end it, and only once."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._on_interrupt: Callable[[], None] | None = None
        self._left = False

    # In the main thread

    def run(self, body: Callable[[], Coroutine[Any, Any, int]]) -> int:
        """Run a coroutine to its end while reading what it asks for; returns its exit code."""
        outcome: concurrent.futures.Future[int] = concurrent.futures.Future()
        if self._editing:
            self._history.load()
        before = [
            (number, signal.signal(number, handler))
            for number, handler in (
                (signal.SIGINT, self._on_sigint),
                (signal.SIGUSR1, self._on_nudge),
            )
        ]
        loop_end, signal_end = socket.socketpair()
        with loop_end, signal_end:
            for end in (loop_end, signal_end):
                end.setblocking(False)
            wakeup = signal.set_wakeup_fd(signal_end.fileno(), warn_on_full_buffer=False)
            args = (body, outcome, loop_end)
            thread = threading.Thread(target=self._run_loop, args=args, daemon=True)
            thread.start()
            try:
                while (read := self._reads.get()) is not None:
                    self._serve(read)
                thread.join()
            finally:
                signal.set_wakeup_fd(wakeup)
                for number, handler in before:
                    signal.signal(number, handler)
        if self._left:
            raise KeyboardInterrupt
        return outcome.result()

    def _run_loop(
        self,
        body: Callable[[], Coroutine[Any, Any, int]],
        outcome: concurrent.futures.Future[int],
        signals: socket.socket,
    ) -> None:
        try:
            outcome.set_result(asyncio.run(self._main(body, signals)))
        except BaseException as problem:  # noqa: BLE001 - the main thread raises it.
            outcome.set_exception(problem)
        finally:
            self._reads.put(None)

    async def _main(
        self, body: Callable[[], Coroutine[Any, Any, int]], signals: socket.socket
    ) -> int:
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(signals, self._on_signal, signals)
        try:
            return 1 if self._left else await body()
        finally:
            self._loop.remove_reader(signals)

    def _serve(self, read: _Read) -> None:
        """Set the outcome of one read."""
        try:
            line = None if read.withdrawn else self._line(read)
        except KeyboardInterrupt:
            self._end_line()
            read.answer.set_exception(Interrupted(typed=self._history.line_is_begun()))
        except _Withdrawn:
            self._end_line()
            read.answer.set_result(None)
        else:
            if read.on_line is not None:
                read.on_line()
            read.answer.set_result(line)
            if read.remembered and line:
                self._history.add(line)

    def _line(self, read: _Read) -> str | None:
        head, newline, prompt = read.prompt.rpartition("\n")
        _write(head + newline)
        self._reading = read
        try:
            if read.guarded and self.interactive:
                _guard(prompt)
            line: str | None = input(self._history.as_prompt(prompt) if self._editing else prompt)
        except (EOFError, OSError):  # The end of input, or a closed terminal.
            line = None
        except SystemError as problem:
            # How `input` reports a signal that comes while readline is between two waits.
            if isinstance(problem.__cause__, KeyboardInterrupt | _Withdrawn):
                raise problem.__cause__ from None
            raise
        self._reading = None
        return line

    def _end_line(self) -> None:
        if self.interactive:
            _write("\n")

    def _on_sigint(self, number: int, frame: object) -> None:
        if self._reading is not None:
            self._reading = None
            raise KeyboardInterrupt
        if self._loop is None:
            self._left = True
        else:
            self._call_in_loop(self.interrupt)

    def _on_nudge(self, number: int, frame: object) -> None:
        if self._reading is not None and self._reading.withdrawn:
            self._reading = None
            raise _Withdrawn

    def _call_in_loop(self, function: Callable[[], None]) -> None:
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(function)
            except RuntimeError:
                pass  # It has just ended.

    # In the event loop

    async def read(
        self,
        prompt: str,
        *,
        guarded: bool = True,
        remembered: bool = False,
        on_line: Callable[[], None] | None = None,
    ) -> str | None:
        """The next line, None at the end of input; raises `Interrupted` for Ctrl-C.

        `on_line` is called in the main thread, before a later Ctrl-C is handled.
        """
        read = _Read(prompt, guarded, remembered, on_line)
        self._reads.put(read)
        try:
            return await asyncio.shield(asyncio.wrap_future(read.answer))
        except asyncio.CancelledError:
            await self._withdraw(read)
            raise

    async def _withdraw(self, read: _Read) -> None:
        read.withdrawn = True
        while not read.answer.done():
            _nudge()
            await asyncio.sleep(NUDGE_S)

    def _on_signal(self, signals: socket.socket) -> None:
        if signal.SIGINT in signals.recv(4096):
            self._repeat_signal(NUDGES)

    def _repeat_signal(self, nudges: int) -> None:
        if self._reading is not None and nudges and self._loop is not None:
            _nudge()
            self._loop.call_later(NUDGE_S, self._repeat_signal, nudges - 1)

    @property
    def handles_interrupts(self) -> bool:
        """Whether a handler is set, so that Ctrl-C does not end the program."""
        return self._on_interrupt is not None

    @contextmanager
    def on_interrupt(self, handler: Callable[[], None]) -> Iterator[None]:
        """Set what Ctrl-C does while there is no question; otherwise the program exits."""
        self._on_interrupt = handler
        try:
            yield
        finally:
            self._on_interrupt = None

    def interrupt(self) -> None:
        """Act as on Ctrl-C."""
        (self._on_interrupt or self.leave)()

    def leave(self) -> None:
        """End the program as Ctrl-C does."""
        self._left = True
        if self._task is not None:
            self._task.cancel()


def _nudge() -> None:
    """Send a signal to the main thread."""
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGUSR1)


def _guard(prompt: str) -> None:
    """Draw the prompt, and discard everything that is typed within half a second."""
    keyboard = sys.stdin.fileno()
    _write(prompt)
    ignored = False
    with _silent(keyboard):
        until = time.monotonic() + GUARD_S
        while (remaining := until - time.monotonic()) > 0:
            if select.select([keyboard], [], [], remaining)[0]:
                if not os.read(keyboard, 4096):
                    raise EOFError
                ignored = True
        termios.tcflush(keyboard, termios.TCIFLUSH)
    _write(f"\n{IGNORED}\n" if ignored else "\r")


@contextmanager
def _silent(keyboard: int) -> Iterator[None]:
    """No echo, and each key at once; Ctrl-C still works."""
    before = termios.tcgetattr(keyboard)
    settings = termios.tcgetattr(keyboard)
    settings[3] &= ~(termios.ICANON | termios.ECHO)
    settings[6][termios.VMIN], settings[6][termios.VTIME] = 1, 0
    termios.tcsetattr(keyboard, termios.TCSANOW, settings)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


def _write(text: str) -> None:
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()
