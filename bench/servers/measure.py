"""What is measured of a server while its sessions work, the same for every contender.

CPU time is that of the server's own processes, all threads; CLIs are other processes. A delay is the
time from the CLI's write of a line until the client of its session has the frame with it.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from pathlib import Path

from bench.server_load.figures import Times
from bench.server_load.processes import cpu_of
from bench.servers.contender import Contender
from bench.servers.figures import Run

__all__ = ["Plan", "measure", "memory_of"]

SETTLE_S = 3.0
"""After the start, until a server is idle."""

FEW_LINES = 5

PAGE = os.sysconf("SC_PAGE_SIZE")

_MARK = re.compile(rb"@(\d+\.\d{6}) ")


class Plan:
    """How much work each server gets."""

    def __init__(self, sessions: int, lines: int, per_s: float, deltas: int = 20_000) -> None:
        self.sessions = sessions
        self.lines = lines
        self.per_s = per_s
        self.deltas = deltas
        """Of one session that writes them at full speed."""

    @property
    def prompt(self) -> str:
        """What each session is told."""
        return f"lines={self.lines} per_s={self.per_s}"

    @property
    def few(self) -> str:
        """The same for little more than the start and the end of a turn."""
        return f"lines={FEW_LINES} per_s={self.per_s}"


class _Arrivals:
    def __init__(self) -> None:
        self.delays: dict[bytes, float] = {}

    def heard(self, payload: bytes) -> None:
        now = time.monotonic()
        for mark in _MARK.findall(payload):
            self.delays.setdefault(mark, now - float(mark))


async def measure(contender: Contender, plan: Plan) -> Run:
    """Start a server, let its sessions work once, and end it."""
    with tempfile.TemporaryDirectory(prefix="fairlead-servers-") as folder:
        started = time.monotonic()
        ready_s = await contender.start(Path(folder))
        try:
            page = await asyncio.to_thread(_page_bytes, contender.base)
            await contender.work(1, plan.few, lambda _: None)  # Code is loaded, JIT is warm.
            await contender.end_sessions()
            await asyncio.sleep(SETTLE_S)
            idle = memory_of(contender.pids)
            # The same sessions with few lines tell what a line costs without its session.
            few_s = await _cpu_of_work(contender, plan.sessions, plan.few, lambda _: None)
            await contender.end_sessions()
            arrivals = _Arrivals()
            all_s = await _cpu_of_work(contender, plan.sessions, plan.prompt, arrivals.heard)
            rss = memory_of(contender.pids)
            await contender.end_sessions()
            pieces = _Arrivals()
            begun_s = await _cpu_of_work(contender, 1, f"deltas={FEW_LINES}", lambda _: None)
            flood_s = await _cpu_of_work(contender, 1, f"deltas={plan.deltas}", pieces.heard)
        finally:
            await contender.end()
    wanted = plan.sessions * plan.lines
    delays = Times("line to frame", tuple(arrivals.delays.values()))
    return Run(
        ready_s=ready_s,
        lines=wanted,
        missing=wanted - len(arrivals.delays),
        missing_deltas=plan.deltas - len(pieces.delays),
        delta_s=(flood_s - begun_s) / max(1, plan.deltas - FEW_LINES),
        line_s=(all_s - few_s) / (wanted - plan.sessions * FEW_LINES),
        session_s=few_s / plan.sessions,
        delay_p50_s=delays.percentile(0.5),
        delay_p99_s=delays.percentile(0.99),
        rss_idle=idle,
        rss_per_session=(rss - idle) / plan.sessions,
        page_bytes=page,
        seconds=time.monotonic() - started,
    )


async def _cpu_of_work(
    contender: Contender, sessions: int, prompt: str, heard: Callable[[bytes], None]
) -> float:
    before = {pid: cpu_of(pid) for pid in contender.pids}
    await contender.work(sessions, prompt, heard)
    return sum(cpu_of(pid) - before.get(pid, 0.0) for pid in contender.pids)


def memory_of(pids: Iterable[int]) -> int:
    """Bytes of memory; a file that several processes have mapped, such as their program, counts once."""
    shared, own = [0], 0
    for pid in pids:
        _, resident, of_files, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
        shared.append(of_files)
        own += resident - of_files
    return PAGE * (own + max(shared))


class _Parts(HTMLParser):
    """The scripts and styles that a page names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "script" and values.get("src"):
            self.found.add(values["src"] or "")
        elif tag == "link" and values.get("rel") in ("stylesheet", "modulepreload"):
            self.found.add(values.get("href") or "")


def _page_bytes(base: str) -> int:
    """Bytes on the wire of the page and of the scripts and styles that it names."""
    page, size = _load(f"{base}/")
    parts = _Parts()
    parts.feed(page.decode("utf-8", "replace"))
    for part in parts.found:
        url = urllib.parse.urljoin(f"{base}/", part)
        if url.startswith(base):
            size += _load(url)[1]
    return size


def _load(url: str) -> tuple[bytes, int]:
    """The content of an address, and the bytes that a browser is sent for it."""
    compressed = urllib.request.Request(url, headers={"Accept-Encoding": "gzip, br"})
    with urllib.request.urlopen(compressed, timeout=30) as answer:
        size = len(answer.read())
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read(), size
