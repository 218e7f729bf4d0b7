"""Makes SIGINT end a program even if its parent ignored the signal.

A shell without job control ignores SIGINT in its background programs, and their children inherit
that. Python and asyncio then install no handler, and Ctrl-C and `kill -INT` would do nothing. Each
program of Fairlead calls `end_on_interrupt` first.
"""

from __future__ import annotations

import signal

__all__ = ["end_on_interrupt"]


def end_on_interrupt() -> None:
    """Raise `KeyboardInterrupt` on SIGINT even if it was inherited as ignored.

    A handler is not inherited, so all programs that this one starts get the default behavior.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)
