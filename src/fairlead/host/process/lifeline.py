"""Ties the life of every CLI to the life of this process, even if it is killed.

A host that gets SIGKILL, runs out of memory or crashes cannot close its sessions, and a CLI works
on until its turn is over. So each host process has one watcher (`reaper`, run as a program) at
the other end of a pipe. The kernel closes our end however we go; the watcher then ends the CLIs
that were running. `PR_SET_PDEATHSIG` would not do: it fires when the *thread* that started the
CLI ends, and it does not reach the commands that the CLI runs.

The watcher is started together with the first CLI; the CLI does not wait for it.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

from fairlead.host.process import reaper

__all__ = ["Lifeline", "lifeline"]

log = logging.getLogger("fairlead")

LIBRARY_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the watcher keeps of the environment: some interpreters do not load without them. The
mark of a CLI that this host may itself run under must not be in there."""


class Lifeline:
    """The pipe to the watcher of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clis: dict[str, int] = {}
        self._pipe: int | None = None

    def expect(self, mark: str) -> None:
        """A CLI with this mark is about to be started."""
        with self._lock:
            self._clis[mark] = 0
            self._tell(f"+ {mark}\n")

    def attach(self, mark: str, pid: int) -> None:
        """The CLI with this mark was started."""
        with self._lock:
            self._clis[mark] = pid
            self._tell(f"= {mark} {pid}\n")

    def release(self, mark: str) -> None:
        """The CLI with this mark has ended, with everything that it started."""
        with self._lock:
            if self._clis.pop(mark, None) is not None:
                self._tell(f"- {mark}\n")

    def forget(self) -> None:
        """In a forked child: the CLIs and the pipe belong to the parent."""
        self._lock = threading.Lock()
        self._clis = {}
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    def _tell(self, line: str) -> None:
        if self._pipe is not None:
            try:
                os.write(self._pipe, line.encode())
                return
            except BlockingIOError:
                return  # The watcher is stopped; it must not stop us.
            except OSError:
                os.close(self._pipe)  # The watcher was killed: start another.
                self._pipe = None
        if self._clis:
            self._open()

    def _open(self) -> None:
        if getattr(sys, "frozen", False) or not sys.executable or not os.path.isfile(PROGRAM):
            log.debug("no interpreter to watch this process with: CLIs may outlive it if killed")
            return
        child_end, own_end = os.pipe()
        try:
            launcher = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", PROGRAM],
                stdin=child_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in LIBRARY_PATHS if name in os.environ},
                start_new_session=True,
            )
        except OSError:
            log.warning("cannot start the watcher of this process", exc_info=True)
            os.close(own_end)
            return
        finally:
            os.close(child_end)
        # It leaves the watcher to init and exits within milliseconds.
        threading.Thread(target=launcher.wait, daemon=True, name="fairlead-lifeline").start()
        os.set_blocking(own_end, False)
        self._pipe = own_end
        for mark, pid in self._clis.items():
            os.write(own_end, (f"= {mark} {pid}\n" if pid else f"+ {mark}\n").encode())


PROGRAM = os.path.abspath(reaper.__file__)

lifeline = Lifeline()
"""The lifeline of this process."""

os.register_at_fork(after_in_child=lifeline.forget)
