"""Makes the terminal on its stdin its own, then becomes the shell: `launcher.py SHELL`.

A shell needs a controlling terminal for job control and Ctrl-C. Only a new process can acquire one,
and the server has threads, so it must not run Python code between fork and exec. Run as a bare file by
an interpreter without site packages, hence only the standard library, and little of it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios

IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
"""Python ignores the first two, and `nohup` or a script in the background the others. Ignored signals
are inherited, and in a shell Ctrl-C must work however the server was started."""


def main() -> None:
    """Acquire the terminal and execute the shell."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in IGNORED:
        signal.signal(number, signal.SIG_DFL)
    os.execv(sys.argv[1], [sys.argv[1]])


if __name__ == "__main__":
    main()
