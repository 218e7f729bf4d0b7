"""What the runs of the servers found, and how it is written down: as ratios to Fairlead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from bench.report import short

__all__ = ["ROWS", "Run", "Server", "table"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one server."""

    ready_s: float
    lines: int
    missing: int
    """Lines that no frame contained."""
    missing_deltas: int
    """The same for the deltas at full speed."""
    line_s: float
    """CPU time of a line, without what its session costs."""
    session_s: float
    """CPU time of a new session with a turn of a few lines."""
    delta_s: float
    """CPU time of a delta that arrives at full speed."""
    delay_p50_s: float
    delay_p99_s: float
    rss_idle: int
    rss_per_session: float
    page_bytes: int
    seconds: float


ROWS: tuple[tuple[str, Callable[[Run], float]], ...] = (
    ("CPU time per line, µs", lambda run: 1e6 * run.line_s),
    ("CPU time per delta at full speed, µs", lambda run: 1e6 * run.delta_s),
    ("CPU time of a session with a turn of 5 lines, ms", lambda run: 1e3 * run.session_s),
    ("line to frame p50, ms", lambda run: 1e3 * run.delay_p50_s),
    ("line to frame p99, ms", lambda run: 1e3 * run.delay_p99_s),
    ("memory when idle, MiB", lambda run: run.rss_idle / MIB),
    ("more memory for each working session, MiB", lambda run: run.rss_per_session / MIB),
    ("start until the page is served, s", lambda run: run.ready_s),
    ("page with its scripts and styles, KB", lambda run: run.page_bytes / 1000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server with all its runs, or the reason why there are none."""

    name: str
    version: str
    runs: tuple[Run, ...] = ()
    problem: str = ""

    def value(self, row: int) -> float:
        """The median of a figure."""
        return median(ROWS[row][1](run) for run in self.runs)

    def as_data(self) -> dict[str, Any]:
        """Plain values for a file."""
        values = {ROWS[row][0]: self.value(row) for row in range(len(ROWS))} if self.runs else {}
        runs = [asdict(run) for run in self.runs]
        return {"name": self.name, "version": self.version, "problem": self.problem} | {
            "figures": values,
            "runs": runs,
        }


def table(servers: Sequence[Server]) -> str:
    """A row for each figure, with the ratio to the first server in brackets."""
    shown = [server for server in servers if server.runs]
    if not shown:
        return "no server could be driven"
    ours = shown[0]
    names = (f"{server.name} {server.version}" for server in shown)
    lines = [f"| figure | {' | '.join(names)} |", f"|---|{'---:|' * len(shown)}"]
    for row, (title, _) in enumerate(ROWS):
        cells = []
        for server in shown:
            value, own = server.value(row), ours.value(row)
            ratio = f" ({value / own:.2g}x)" if server is not ours and own > 0 else ""
            cells.append(f"{short(value)}{ratio}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lost = (
        f"{server.name} {server.version} {last.missing} and {last.missing_deltas}"
        for server, last in ((server, server.runs[-1]) for server in shown)
    )
    lines.append(f"\nLines and deltas that no frame contained, in the last run: {', '.join(lost)}.")
    lines += [
        f"{server.name} {server.version}: {server.problem}" for server in servers if server.problem
    ]
    return "\n".join(lines)
