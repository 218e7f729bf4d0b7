"""The CLI process started or ended; only the host knows.

When it ends, everything that depends on it ends: the turn, its tools, open requests, background
tasks, prompts it had not begun. A resumed session continues in the same transcript.
"""

from __future__ import annotations

from fairlead.transcript.reducers import (
    background,
    notices,
    pairing,
    pending,
    queue,
    streaming,
    turns,
)
from fairlead.transcript.state.facts import HostStopping, ProcessExited, ProcessStarted
from fairlead.transcript.state.fold import Fold

__all__ = ["on_exited", "on_host_stopping", "on_started"]


def on_started(fold: Fold, fact: ProcessStarted) -> None:
    """A process was started for a new session or to resume a session."""
    memory = fold.memory
    if memory.process == "running":
        _end_everything(fold)
    memory.process = "running"
    memory.heard = memory.names_prompts = memory.exit_expected = False
    memory.host_stopping = False
    memory.fresh_process = memory.fresh_init = True
    memory.cli_state = None
    fold.put("status", returncode=None, detail=None)
    if fact.resumed is not None:
        notices.note(fold, "resumed", data={"session": fact.resumed})


def on_host_stopping(fold: Fold, fact: HostStopping) -> None:
    """The host is about to end the process because it is ending itself."""
    fold.memory.host_stopping = True


def on_exited(fold: Fold, fact: ProcessExited) -> None:
    """The process has ended. An early end is a failure, whatever the exit code (CLI-112)."""
    memory = fold.memory
    cut_off = memory.turn is not None
    by_host = fact.host_stopped or memory.host_stopping
    _end_everything(fold, "host_stopped" if by_host else "process_ended")
    memory.process = "exited"
    memory.host_stopping = False
    memory.exit_expected = (
        fact.expected or by_host or (not cut_off and _ended_well(fold, fact.returncode))
    )
    detail = fact.stderr.strip() or None
    fold.put("status", returncode=fact.returncode, detail=detail)


def _ended_well(fold: Fold, returncode: int | None) -> bool:
    """After the end of its input a CLI ends with 1 if its last turn failed (CLI-509)."""
    outcome = fold.memory.last_outcome
    if outcome is None:
        return returncode == 0 and fold.memory.heard
    return returncode == 0 or (returncode == 1 and outcome not in ("success", "unknown"))


def _end_everything(fold: Fold, outcome: str = "process_ended") -> None:
    pending.end_all(fold)
    for source in tuple(fold.memory.streams):
        streaming.cut_off(fold, source)
    background.lose_all(fold)
    turns.close_turn(fold, outcome)
    pairing.close_tools(fold, everything=True)
    queue.lose_waiting(fold)
    fold.memory.requests.clear()
    fold.memory.stopped_by = None
    fold.memory.compacting = False
    fold.memory.cli_state = None
