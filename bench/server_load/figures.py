"""What a run of the load benchmark found, and how it is written down."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Figures", "Times"]

AIM_S = 0.250
"""What a control round trip may take at most, at the 99th percentile."""


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds that one kind of round trip took."""

    name: str
    seconds: tuple[float, ...]

    def percentile(self, share: float) -> float:
        """The time that this share of them did not exceed."""
        ranked = sorted(self.seconds) or [math.inf]
        return ranked[min(len(ranked) - 1, int(share * len(ranked)))]

    def row(self) -> str:
        """A row of the table."""
        shares = (self.percentile(share) * 1e3 for share in (0.5, 0.9, 0.99))
        cells = (*(f"{item:.1f}" for item in shares), f"{self.percentile(1.0) * 1e3:.1f}")
        return f"| {self.name} | {len(self.seconds):,} | " + " | ".join(cells) + " |"


@dataclass(slots=True, kw_only=True)
class Figures:
    """All that was measured in one run."""

    sessions: int
    sockets: int
    lines_per_s: float
    """Of each session."""
    seconds: float = 0.0
    """How long the measured part took."""
    rss_bare: int = 0
    rss_sessions: int = 0
    rss_sockets: int = 0
    rss_end: int = 0
    idle_cpu: float = 0.0
    """Seconds of CPU time per second of an idle server."""
    server_cpu: float = 0.0
    cpu_parts: dict[str, float] = field(default_factory=dict)
    """The same for each kind of its processes."""
    agents_cpu: float = 0.0
    viewers_cpu: float = 0.0
    lines: int = 0
    frames: int = 0
    frame_bytes: int = 0
    late_s: float = 0.0
    slowest_commit_s: float = 0.0
    times: list[Times] = field(default_factory=list)
    permissions: int = 0
    """Asked and answered, in the whole run."""
    turns: int = 0
    snapshots: int = 0
    """Sent again although a client had followed: those who fell behind."""
    gaps: int = 0
    behind: int = 0
    """Sockets that did not reach the end of what they followed."""
    closed: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every socket got everything, and nothing went wrong."""
        return not (self.gaps or self.behind or self.closed or self.errors)

    @property
    def worst_p99(self) -> float:
        """The slowest of the round trips, in seconds."""
        return max(time.percentile(0.99) for time in self.times)

    def as_data(self) -> dict[str, Any]:
        """Everything, for programs."""
        return {**asdict(self), "complete": self.complete}

    def summary(self) -> dict[str, Any]:
        """The figures without every single time."""
        return {
            "sessions": self.sessions,
            "sockets": self.sockets,
            "lines_per_s": self.lines_per_s,
            "micros_per_line": 1e6 * self.server_cpu * self.seconds / max(1, self.lines),
            "frames_per_s": self.frames / max(1e-9, self.seconds),
            "idle_cpu": self.idle_cpu,
            "idle_mib": _mib(self.rss_bare),
            "kib_per_session": self._per_session(),
            "kib_per_socket": self._per_socket(),
            "complete": self.complete,
            "round_trips": [
                {
                    "name": time.name,
                    "count": len(time.seconds),
                    "p50_ms": 1e3 * time.percentile(0.5),
                    "p99_ms": 1e3 * time.percentile(0.99),
                }
                for time in self.times
                if time.seconds  # A short run may have no permission request.
            ],
        }

    def table(self) -> str:
        """Everything, for people."""
        lines_in = self.lines / self.seconds
        met = "met" if self.worst_p99 < AIM_S else "MISSED"
        lost = (
            "every socket got every change"
            if self.complete
            else f"INCOMPLETE: {self.gaps} gaps, {self.behind} sockets behind, "
            f"{self.closed} closed, errors: {self.errors[:3]}"
        )
        rows = (
            f"{self.sessions} sessions at work, {self.lines_per_s:g} lines a second each, "
            f"{self.sockets} sockets; {self.seconds:.0f} s measured",
            "",
            "| control round trip | count | p50, ms | p90, ms | p99, ms | slowest, ms |",
            "|---|---:|---:|---:|---:|---:|",
            *(time.row() for time in self.times),
            "",
            "| the server | |",
            "|---|---:|",
            f"| lines of agents taken in, a second | {lines_in:,.0f} |",
            f"| frames sent, a second | {self.frames / self.seconds:,.0f} |",
            f"| bytes sent, MB a second | {self.frame_bytes / self.seconds / 1e6:.2f} |",
            f"| processor time under load, of one core | {self.server_cpu:.0%} |",
            *(
                f"| … of the {name}, of one core | {used:.0%} |"
                for name, used in self.cpu_parts.items()
                if len(self.cpu_parts) > 1
            ),
            f"| processor time with everybody idle, of one core | {self.idle_cpu:.1%} |",
            f"| slowest commit of the store, ms | {self.slowest_commit_s * 1e3:.0f} |",
            f"| memory with nothing, MiB | {_mib(self.rss_bare):.1f} |",
            f"| memory per idle session, KiB | {self._per_session():.0f} |",
            f"| memory per idle socket, KiB | {self._per_socket():.0f} |",
            f"| memory at the end, MiB | {_mib(self.rss_end):.0f} |",
            "",
            f"In addition, the agents took {self.agents_cpu:.0%} of a core (latest line "
            f"{self.late_s * 1e3:.0f} ms late), the clients {self.viewers_cpu:.0%}.",
            f"{lost}; {self.turns} turns, {self.permissions} permissions.",
            f"p99 at most {self.worst_p99 * 1e3:.0f} ms (aim: under {AIM_S * 1e3:.0f} ms, {met}).",
        )
        return "\n".join(rows)

    def _per_session(self) -> float:
        return (self.rss_sessions - self.rss_bare) / max(1, self.sessions - 1) / 1024

    def _per_socket(self) -> float:
        return (self.rss_sockets - self.rss_sessions) / self.sockets / 1024


def _mib(size: int) -> float:
    return size / 2**20
