"""Processes that each get only a share of a core, by control groups of Linux.

On two cores, the programs that make the load compete with several processes of a server, so that they
cannot show what they carry where each has a core. With a quarter of a core for each process, all of
them fit: the machine then behaves like one with more and slower cores. Needs root.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from types import TracebackType

__all__ = ["LimitedCores", "NoControlGroups"]

GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 10_000
"""So short that a pause is small compared with the delays that are measured."""


class NoControlGroups(Exception):
    """This machine or this user cannot limit processes."""


class LimitedCores:
    """A context in which processes can be limited; it removes the limits of those that have ended."""

    def __init__(self, share: float, groups: Path = GROUPS) -> None:
        """Without a share nothing is limited; `groups` is where the system shows its groups."""
        self._share = share
        self._groups = groups
        self._made: list[Path] = []

    def __enter__(self) -> LimitedCores:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for group in self._made:
            with contextlib.suppress(OSError):  # A process that could not be ended is in it.
                group.rmdir()

    def limit(self, pid: int) -> None:
        """Let this process, and those that it starts from now on, use only the share of a core."""
        if not self._share:
            return
        quota = round(self._share * PERIOD_US)
        try:
            group = self._group(f"fairlead-bench-{os.getpid()}-{pid}", quota)
            (group / "cgroup.procs").write_text(str(pid))
        except OSError as problem:
            raise NoControlGroups(
                f"cannot limit the CPU time of a process: {problem}. "
                "Run the benchmark as root on Linux, or without --share."
            ) from None

    def _group(self, name: str, quota: int) -> Path:
        unified = (self._groups / "cgroup.controllers").exists()
        group = self._groups / name if unified else self._groups / "cpu" / name
        if unified:
            (self._groups / "cgroup.subtree_control").write_text("+cpu")
        group.mkdir()
        self._made.append(group)
        if unified:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        return group
