"""The metrics of a gateway, in the text format of Prometheus.

Nodes have their own metrics at their own address (`server/http/library.py`). A gateway measures what its
users notice: the age of the last beat of each machine, the duration of intents, and how often something
had to be requested again.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable

from fairlead.fleet.bus.bus import Bus
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.mirrors import Mirrors
from fairlead.fleet.protocol.envelopes import Beat
from fairlead.server.view.lobby import Lobby

__all__ = ["FleetMetrics", "IntentMetrics"]

BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_CODE = re.compile(r"[a-z_]{1,40}\Z")


class IntentMetrics:
    """How many intents had which result, and how long they took."""

    def __init__(self) -> None:
        self._results: Counter[str] = Counter()
        self._buckets = [0] * (len(BOUNDS_S) + 1)
        self._seconds = 0.0

    def carried_out(self, result: str, seconds: float) -> None:
        """Count an intent; `result` is `ok` or the code of a refusal."""
        # A machine chooses the code; one that was taken over must not fill the memory.
        self._results[result if _CODE.match(result) and self._has_room(result) else "other"] += 1
        self._buckets[bisect_left(BOUNDS_S, seconds)] += 1
        self._seconds += seconds

    def _has_room(self, result: str) -> bool:
        return result in self._results or len(self._results) < 30

    def lines(self) -> Iterable[str]:
        """The metrics as text."""
        name = "fairlead_fleet_intents_total"
        yield f"# HELP {name} Intents that machines carried out or refused, by result."
        yield f"# TYPE {name} counter"
        for result, count in sorted(self._results.items()):
            yield f'{name}{{result="{result}"}} {count}'
        name = "fairlead_fleet_intent_seconds"
        yield f"# HELP {name} From an intent at the gateway to the answer of its machine."
        yield f"# TYPE {name} histogram"
        total = 0
        for bound, count in zip((*BOUNDS_S, "+Inf"), self._buckets, strict=True):
            total += count
            yield f'{name}_bucket{{le="{bound}"}} {total}'
        yield f"{name}_sum {self._seconds:.6f}"
        yield f"{name}_count {total}"


class FleetMetrics:
    """Everything that a gateway measures."""

    def __init__(
        self,
        bus: Bus,
        directory: Directory,
        lobby: Lobby,
        mirrors: Mirrors,
        intents: IntentMetrics,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bus = bus
        self._directory = directory
        self._lobby = lobby
        self._mirrors = mirrors
        self._intents = intents
        self._ticks = ticks

    def text(self) -> str:
        """The metrics of this moment."""
        nodes = self._directory.nodes()
        here = {node.id for node in nodes if node.here}
        lines = [
            *_metric("machines", len(nodes), "Machines of the fleet."),
            *_metric("machines_here", len(here), "Machines whose beats arrive."),
            *_metric("sessions", len(self._lobby.ids("sessions")), "Sessions of all machines."),
            *_metric("bus_connected", int(self._bus.connected), "1 if the bus is connected."),
            *_metric("bus_resets_total", getattr(self._bus, "resets", 0),
                     "How often a silent bus was given up."),
            *_metric("gaps_total", self._mirrors.gaps, "How often a mirror missed something."),
            *_metric("snapshots_total", self._mirrors.snapshots,
                     "How often a node sent a whole document."),
        ]  # fmt: skip
        heard = {node.id: self._ticks() - node.heard for node in nodes if node.heard is not None}
        lines += _by_node("beat_age_seconds", heard, "Since the last beat of a machine.")
        lag: dict[str, float] = {
            node.id: _lag(node.beat) for node in nodes if node.beat and node.beat.replicates
        }
        lines += _by_node(
            "copy_lag_events", lag, "Events that are not in the copy of their log yet, at most."
        )
        return "\n".join([*lines, *self._intents.lines()]) + "\n"


def _lag(beat: Beat) -> int:
    """How far the copy of a log is behind, of those that changed lately."""
    copied = {place.document: place.seq for place in beat.replicated}
    behind = (
        each.seq - copied[each.document] for each in beat.changed if copied.get(each.document)
    )
    return max(0, max(behind, default=0))


def _metric(name: str, value: float, about: str) -> list[str]:
    full = f"fairlead_fleet_{name}"
    kind = "counter" if name.endswith("_total") else "gauge"
    return [f"# HELP {full} {about}", f"# TYPE {full} {kind}", f"{full} {value}"]


def _by_node(name: str, values: dict[str, float], about: str) -> list[str]:
    full = f"fairlead_fleet_{name}"
    head = [f"# HELP {full} {about}", f"# TYPE {full} gauge"]
    return head + [f'{full}{{node="{node}"}} {value:.3f}' for node, value in values.items()]
