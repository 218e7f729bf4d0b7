"""The common check of all tests with faults: was anything lost, duplicated or reordered?

For each session: (1) the log counts 1 … N without a gap; (2) what any client saw at a number is
what the log up to that number gives; (3) each prompt that was accepted is on the CLI's stdin
exactly once; (4) each request of the CLI got exactly one answer and has one outcome; (5) the state
at the end is the log, folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairlead.server.policy import Policy
from fairlead.server.session.log_lines import fed_by
from fairlead.server.view.session_view import SessionView
from fairlead.store.log import Event
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.transcript import Transcript
from tests.faults.faulty_client import FaultyClient
from tests.faults.views import view_of_source, view_of_state

__all__ = ["Findings", "check", "events_of"]

READ = 2_000


@dataclass(slots=True)
class Findings:
    """What a run came to. Everything but the first figures must be nothing."""

    events: int = 0
    views: int = 0
    inputs: int = 0
    permissions: int = 0
    holes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Shown to a client, and not in the log."""
    wrong_views: list[str] = field(default_factory=list)
    inputs_lost: list[str] = field(default_factory=list)
    inputs_doubled: list[str] = field(default_factory=list)
    permissions_doubled: list[str] = field(default_factory=list)
    permissions_lost: list[str] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)

    @property
    def problems(self) -> dict[str, list[str]]:
        """What is wrong, by kind; empty if all is well."""
        kinds = {
            "holes": self.holes,
            "lost": self.lost,
            "wrong views": self.wrong_views,
            "inputs lost": self.inputs_lost,
            "inputs doubled": self.inputs_doubled,
            "permissions doubled": self.permissions_doubled,
            "permissions lost": self.permissions_lost,
            "breaches": self.breaches,
        }
        return {name: found[:5] for name, found in kinds.items() if found}

    def __str__(self) -> str:
        wrong = self.problems or "lost 0, doubled 0"
        return (
            f"{self.events:,} events, {self.views:,} views, {self.inputs} prompts, "
            f"{self.permissions} permissions: {wrong}"
        )


async def events_of(store: SqliteStore, session: str) -> list[Event]:
    """All events of a session."""
    events: list[Event] = []
    while more := await store.read(session, events[-1].seq if events else 0, READ):
        events += more
    return events


async def check(
    store: SqliteStore,
    sessions: Iterable[str],
    clients: Sequence[FaultyClient],
    received: Sequence[dict[str, Any]],
    policy: Policy,
    *,
    killed: bool = False,
) -> Findings:
    """Check a run by the log, what the clients saw, and what the CLI received on its stdin.

    With `killed`, processes were killed: a prompt may then be marked as not sent instead, and a
    request as ended with its process.
    """
    findings = Findings(breaches=[said for client in clients for said in client.breaches])
    for session in sessions:
        events = await events_of(store, session)
        here = [client for client in clients if client.session == session]
        folded = _fold(session, events, here, policy, findings)
        _check_inputs(folded, here, received, findings, killed=killed)
        _check_permissions(folded, events, here, received, findings, killed=killed)
    return findings


def _fold(
    session: str,
    events: list[Event],
    clients: list[FaultyClient],
    policy: Policy,
    findings: Findings,
) -> Transcript:
    """Fold the log and compare it, on the way, with what was seen."""
    seen = defaultdict(list)
    for client in clients:
        for seq, view in client.seen.items():
            seen[seq].append((client.name, view))
        if client.highest > len(events):
            findings.lost.append(f"{client.name} saw {client.highest} of {len(events)}")
    transcript = Transcript()
    source = SessionView(transcript, policy)
    for number, event in enumerate(events, 1):
        if event.seq != number:
            findings.holes.append(f"{session}: {event.seq} stands at {number}")
        fed = fed_by(event)
        if fed is not None:
            source.changes(transcript.feed(fed, event.at))
        for name, view in seen.get(number, ()):
            findings.views += 1
            if view_of_source(source, number, view.items) != view:
                findings.wrong_views.append(f"{name} at {number}")
    findings.events += len(events)
    for client in clients:
        if not client.waiting and client.seq == len(events) and client.state is not None:
            _check_end(source, client, findings)
    return transcript


def _check_end(source: SessionView, client: FaultyClient, findings: Findings) -> None:
    assert client.state is not None
    assert client.seq is not None
    mine = view_of_state(client.state, client.seq)
    if view_of_source(source, client.seq, mine.items) != mine:
        findings.wrong_views.append(f"{client.name} at the end")


def _check_inputs(
    transcript: Transcript,
    clients: list[FaultyClient],
    received: Sequence[dict[str, Any]],
    findings: Findings,
    *,
    killed: bool,
) -> None:
    written = Counter(entry.get("uuid") for entry in received if entry.get("type") == "user")
    for client in clients:
        for prompt, text in client.accepted.items():
            findings.inputs += 1
            item = transcript.item(prompt)
            state = getattr(item, "state", None)
            if written[prompt] > 1:
                findings.inputs_doubled.append(f"{text!r} x {written[prompt]}")
            elif not written[prompt] and not (killed and state in ("cancelled", "sent", "started")):
                findings.inputs_lost.append(f"{text!r} is {state}")


def _check_permissions(
    transcript: Transcript,
    events: list[Event],
    clients: list[FaultyClient],
    received: Sequence[dict[str, Any]],
    findings: Findings,
    *,
    killed: bool,
) -> None:
    asked = {row.id for row in (*transcript.pending, *transcript.settled)}
    outcomes = Counter(row.id for row in (*transcript.pending, *transcript.settled))
    responses = [entry["response"] for entry in received if entry.get("type") == "control_response"]
    answered = Counter(response["request_id"] for response in responses)
    winners = Counter(request for client in clients for request, _ in client.decided)
    findings.permissions += len(asked)
    for request in asked:
        if outcomes[request] != 1 or answered[request] > 1 or winners[request] > 1:
            findings.permissions_doubled.append(
                f"{request}: {outcomes[request]} outcomes, {answered[request]} answers, "
                f"{winners[request]} winners"
            )
        ended = killed and answered[request] == 0
        if not ended and (answered[request] != 1 or winners[request] != 1):
            findings.permissions_lost.append(f"{request}: {answered[request]} answers")
    if any(row.outcome == "" for row in transcript.settled):
        findings.permissions_lost.append("a request is over without an outcome")
