"""Runs all tests for `make test`: several pytest runs side by side, then failures once more.

    python -m tests.suite                  all parts
    python -m tests.suite browser wheel    some parts

Browser tests wait a lot, other tests compute a lot, and the wheel's tests wait for a package index,
so side by side they keep two cores busy. The output of the first part is shown as it comes, that
of each other part when it has ended.

A test that fails is run again when nothing else runs, one test at a time, because an overloaded
machine can break a timeout. Every test that needed this is named in the last lines: a test that is
named twice has a race, which must be fixed. The exit code is 0 if every test passed in the end.

The CPU time of each part is printed. With two cores, `make test` takes half of the sum of all.

The temporary folders of tests are in memory if this user may mount a file system there: every store
and every server waits for the disk several times when it is opened and closed, which costs no CPU
time but, with 7 ms for each wait, minutes of a whole run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["PARTS", "Part", "main"]

ROOT = Path(__file__).parents[1]
BROWSER = "tests/e2e/browser"
WHEEL = "tests/packaging/wheel"

MOUNTED = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"')
"""Runs a command, given after a folder, for which that folder is in memory and visible to no other process."""

NEEDED = 6 * 1024**3
"""Free memory with which temporary folders are in memory; those of tests that passed are removed."""

FAILED = 1
"""Exit code of pytest if tests failed; any other code but 0 means that it could not run them."""


class Part:
    """One pytest run, with a cache of its own, in which pytest keeps the names of failed tests."""

    def __init__(
        self,
        name: str,
        title: str,
        *paths: str,
        workers: int,
        network: bool,
        caches: Path = ROOT / ".pytest_cache",
    ) -> None:
        self.name = name
        self.title = title
        self._paths = paths
        self._workers = workers
        self._network = network
        self._cache = caches / name

    def command(self, memory: Path | None = None) -> list[str]:
        """Run all tests of the part, with their temporary folders in this one, in memory."""
        spread = ["--dist", "worksteal"] if self._workers else []
        plain = [*self._pytest(), "-n", str(self._workers), *spread]
        if memory is None:
            return plain
        folders = ("env", f"PYTEST_DEBUG_TEMPROOT={memory}")
        small = ("-o", "tmp_path_retention_policy=failed")
        return [*MOUNTED, str(memory), *folders, *plain, *small]

    def again(self) -> list[str]:
        """Run the tests that failed, one at a time."""
        return [*self._pytest(), "-n", "0", "--last-failed", "--last-failed-no-failures", "none"]

    def failures(self) -> list[str]:
        """The tests that failed in the last run."""
        try:
            names = json.loads((self._cache / "v" / "cache" / "lastfailed").read_text("utf-8"))
        except FileNotFoundError:
            return []
        return sorted(names)

    def forget(self) -> None:
        """Forget failures of an earlier run, which may have been of other tests."""
        (self._cache / "v" / "cache" / "lastfailed").unlink(missing_ok=True)

    def _pytest(self) -> list[str]:
        isolated = (
            [] if self._network else ["-m", "fairlead.testing.isolated", "--", sys.executable]
        )
        return [
            *(sys.executable, *isolated, "-m", "pytest", "-q"),
            *("-o", f"cache_dir={self._cache}"),
            *self._paths,
        ]


PARTS = (
    Part(
        "others",
        "all tests except the browser tests, without a network",
        *("tests", "--ignore", BROWSER, "--ignore", WHEEL),
        # More workers than cores, because these tests wait most of the time: for processes, timers
        # and sockets. With three, an idle machine used half of its two cores.
        workers=5,
        network=False,
    ),
    Part(
        "browser",
        "the web app in Chromium",
        # Times on a busy machine mean nothing: `make bench` measures them.
        *(BROWSER, "--ignore", f"{BROWSER}/test_performance.py"),
        workers=2,
        network=False,
    ),
    Part(
        "wheel",
        "sdist and wheel from a clean clone, installed without Node",
        WHEEL,
        workers=0,
        network=True,
    ),
)


class _Run:
    """A part that is running."""

    def __init__(self, part: Part, output: IO[bytes] | None, memory: Path | None) -> None:
        self.part = part
        self.output = output
        self.process = subprocess.Popen(
            part.command(memory),
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
        )

    def finish(self) -> int:
        """Wait for the end and show what was not shown yet."""
        code, cpu_s = self._wait()
        if self.output is not None:
            _say(self.part.title)
            self.output.seek(0)
            sys.stdout.buffer.write(self.output.read())
            self.output.close()
        _say(f"{self.part.name} ended with exit code {code} and used {cpu_s:.0f} s of CPU time")
        return code

    def _wait(self) -> tuple[int, float]:
        """The exit code, and the CPU time of the part with all processes that it has waited for."""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage.ru_utime + usage.ru_stime


def run(parts: Sequence[Part]) -> int:
    """Run parts side by side, then their failures; the exit code."""
    began = time.monotonic()
    for part in parts:
        part.forget()
    _say(parts[0].title)
    with _folder_in_memory() as memory:
        runs = [
            _Run(part, tempfile.TemporaryFile() if number else None, memory)  # noqa: SIM115 - `finish` closes
            for number, part in enumerate(parts)
        ]
        try:
            codes = [run.finish() for run in runs]
        finally:
            for run in runs:
                if run.process.poll() is None:
                    run.process.terminate()
                    run.process.wait()
    _say(f"all parts ended after {time.monotonic() - began:.0f} s")
    return max((_run_again(part, code) for part, code in zip(parts, codes, strict=True)), default=0)


@contextmanager
def _folder_in_memory() -> Iterator[Path | None]:
    """An empty folder on which each part mounts memory; None if that is not possible here."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        able = os.geteuid() == 0 and shutil.which("unshare") and shutil.which("mount")
        tried = able and subprocess.run(
            [*MOUNTED, folder, "true"], capture_output=True, check=False
        )
        yield Path(folder) if tried and tried.returncode == 0 and _free_memory() > NEEDED else None


def _free_memory() -> int:
    """The bytes of memory that programs can still have."""
    text = Path("/proc/meminfo").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) * 1024


def _run_again(part: Part, code: int) -> int:
    failures = part.failures() if code == FAILED else []
    if not failures:
        return code
    _say(f"running {len(failures)} failed tests of {part.name} again, one at a time")
    code = subprocess.run(part.again(), cwd=ROOT, check=False).returncode
    still = set(part.failures()) if code else set()
    for name in failures:
        _say(f"{'FAILED TWICE' if name in still else 'NEEDED A SECOND, SERIAL RUN'}: {name}")
    return code


def _say(text: str) -> None:
    sys.stdout.write(f"test: {text}\n")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named parts, or all of them."""
    known = {part.name: part for part in PARTS}
    parser = argparse.ArgumentParser(prog="python -m tests.suite")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(known))
    names = parser.parse_args(argv).parts
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; the parts are {', '.join(known)}")
    return run([known[name] for name in names] or PARTS)


if __name__ == "__main__":
    sys.exit(main())
