"""All machines of a fleet and their sessions, as one lobby of a gateway.

Each node's lobby is a document that the gateway mirrors (`node_lobby`). Their rows are put into the
gateway's own lobby, with the machine that they are on. A machine whose beats stop is *away*: its
sessions stay listed, and its open requests stay visible; clients do not let people answer them. Whether a machine is
away is decided by the gateway's own clock, because clocks of machines differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import structs

from fairlead.fleet.gateway.node_lobby import LobbyChange, NodeLobby
from fairlead.fleet.protocol.envelopes import VERSION, Beat
from fairlead.fleet.protocol.names import name_of, split_name
from fairlead.server.access.names import plain_name
from fairlead.server.protocol.lobby_rows import (
    InboxRow,
    ListedSession,
    NodeRow,
    ServerInfo,
)
from fairlead.server.refusal import Refusal
from fairlead.server.view.lobby import Lobby

__all__ = ["AWAY_S", "Directory", "NodeEntry"]

AWAY_S = 3.0
"""A node that has not beaten for this time is away."""


LATE_S = 1.0
"""Time between two checks that is not unusual; the gateway looks four times a second."""

GONE_S = 7 * 86_400.0
"""A node that has been away for this time is shown as gone; its sessions stay listed."""

NOT_LISTED = (
    "This gateway has just started and has not read the list of its machines yet, so nothing was "
    "done. Try again in a moment."
)

SLOW_FIELDS = frozenset(
    {"cost_usd", "items", "last_activity", "last_sentence", "lines_added", "lines_removed", "tasks"}
)
"""What changes all the time while a session works, and what nobody has to act on."""

STATUS = "status"
WORKING_FIELDS = SLOW_FIELDS | {STATUS}
"""What changes during a turn. At its end, other fields change too."""

SLOW_ROW_S = 0.02
"""What a row that has only such changes adds to the time until the next ones are shown, as on one
server (`catalog.UNSHOWN_PER_SESSION_S`): with 500 working sessions, each is shown every ten seconds.
All clients get these rows, also those on a slow line."""

DISK_STEP = 256 * 1024 * 1024
"""The precision of the free space that clients see."""


class NodeEntry:
    """What a gateway knows of one machine."""

    def __init__(
        self, node: str, changed: Callable[[NodeEntry, LobbyChange], None], name: str = ""
    ) -> None:
        self.id = node
        self.name = name or node
        self.heard: float | None = None
        """When the last beat arrived, by the gateway's steady clock."""
        self.here = False
        self.since = 0.0
        """When `here` changed, by the gateway's clock."""
        self.beat: Beat | None = None
        self.lobby = NodeLobby(partial(changed, self))
        self.names: dict[str, str] = {}
        """Session on the node -> its name at the gateway."""
        self.stored: dict[str, ListedSession] = {}
        """The last known rows of a machine that was away since the gateway's start."""

    def sessions(self) -> dict[str, ListedSession]:
        """The rows of its sessions."""
        return self.lobby.sessions() if self.lobby.is_known else self.stored


class Directory:
    """The machines of a fleet."""

    def __init__(
        self,
        lobby: Lobby,
        *,
        version: str = "",
        clock: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lobby = lobby
        self._version = version
        self._clock = clock
        self._ticks = ticks
        self._started = self._checked = ticks()
        self._nodes: dict[str, NodeEntry] = {}
        self.is_listed = False
        """Whether the list of machines was read since the start. In a cluster that elects a leader,
        a gateway is ready before it can be."""
        self._owners: dict[str, tuple[str, str]] = {}
        """Name at the gateway -> node and session."""
        self.on_moved: Callable[[str, str, str], None] = lambda name, node, session: None
        """Called with a session's name, its new machine and its id there, when another machine has it."""
        self._inbox: dict[str, set[str]] = {}
        """Node -> the ids of its rows in the inbox of the gateway."""
        self._late: dict[tuple[str, str], None] = {}
        """Nodes and sessions whose row has slow changes that are not shown yet."""
        self._late_until = ticks()

    # Nodes

    def nodes(self) -> list[NodeEntry]:
        """All machines that are known."""
        return list(self._nodes.values())

    def node(self, node: str) -> NodeEntry | None:
        """A machine by its id."""
        return self._nodes.get(node)

    def here(self) -> list[str]:
        """The ids of the machines that are not away."""
        return [node.id for node in self._nodes.values() if node.here]

    def is_here(self, node: str) -> bool:
        """Whether a machine is not away."""
        entry = self._nodes.get(node)
        return entry is not None and entry.here

    def away(self, node: str) -> str:
        """Says in a sentence that a machine cannot be asked."""
        entry = self._nodes.get(node)
        if entry is None:
            return "This machine is not part of the fleet."
        return (
            f"The machine {entry.name} is away, so nothing was done. "
            "Try again when it is connected."
        )

    def label(self, node: str) -> str:
        """A machine as the beginning of a sentence."""
        entry = self._nodes.get(node)
        return f"The machine {node if entry is None else entry.name}"

    def enroll(self, node: str, name: str) -> NodeEntry:
        """List a machine, whether it is here or not."""
        entry = self._nodes.get(node)
        if entry is None:
            entry = self._nodes[node] = NodeEntry(node, self._show, name)
            entry.since = self._clock()
            self._show_node(entry)
        return entry

    def forget(self, node: str) -> None:
        """List a machine and its sessions no longer: it is gone for good."""
        entry = self._nodes.pop(node, None)
        if entry is None:
            return
        for name in entry.names.values():
            self._owners.pop(name, None)
            self._lobby.remove("sessions", name)
        for row_id in self._inbox.pop(node, ()):
            self._lobby.remove("inbox", row_id)
        self._lobby.remove("nodes", node)
        self._show_server()

    def heard(self, node: str, beat: Beat) -> bool:
        """A beat arrived; whether the machine is new or was away."""
        # Names are also printed in terminals, which obey control characters.
        entry = self.enroll(node, plain_name(beat.name, node))
        entry.heard = self._ticks()
        entry.beat = beat
        entry.name = plain_name(beat.name, entry.name)
        arrived = not entry.here
        if arrived:
            entry.here, entry.since = True, self._clock()
            self._show_server()
        self._show_node(entry)
        return arrived

    def check(self) -> list[str]:
        """Notice which machines have fallen silent, and show what was held back; returns the machines
        that are away since now.

        While this process was paused or had no CPU time, no beat could be heard. So that time does
        not count (N51).
        """
        now = self._ticks()
        paused = max(0.0, now - self._checked - LATE_S)
        self._checked = now
        self._show_late(now)
        if paused:
            for entry in self._nodes.values():
                if entry.heard is not None:
                    entry.heard = min(now, entry.heard + paused)
        gone = [
            entry
            for entry in self._nodes.values()
            if entry.here and entry.heard is not None and now - entry.heard > AWAY_S
        ]
        for entry in self._nodes.values():
            if not entry.here and entry not in gone:
                self._lobby.update("nodes", entry.id, state=self._state(entry))
        for entry in gone:
            entry.here, entry.since = False, self._clock()
            self._show_node(entry)
        if gone:
            self._show_server()
        return [entry.id for entry in gone]

    def stored(self, node: str, rows: Iterable[ListedSession]) -> None:
        """The last known rows of a machine that has not been heard of yet."""
        entry = self._nodes.get(node)
        if entry is not None and not entry.lobby.is_known:
            entry.stored = {row.id: row for row in rows}
            self._show_sessions(entry, None)
            self._show_node(entry)

    # Sessions

    @property
    def is_settled(self) -> bool:
        """Whether waiting for the sessions of more machines is of no use. A gateway that has just
        started hears the machines first; until then it cannot know that a session does not exist."""
        if not self.is_listed:
            return False
        if self._ticks() - self._started <= AWAY_S and not all(
            node.here for node in self._nodes.values()
        ):
            return False
        return all(node.lobby.is_known for node in self._nodes.values() if node.here)

    def not_found(self, name: str) -> Refusal:
        """Says that no machine has a session, or that one may have it that cannot be asked."""
        if not self.is_listed:
            return Refusal("unavailable", NOT_LISTED)
        unheard = [entry.name for entry in self._nodes.values() if not entry.lobby.is_known]
        if not unheard:
            return Refusal("not_found", f"Session {name!r:.200} not found.")
        text = f"No machine that is connected has the session {name!r:.200}. "
        return Refusal(
            "unavailable",
            f"{text}It may be on {', '.join(unheard)}, which this gateway has not reached yet. "
            "Try again when that machine is connected.",
        )

    def owner_of(self, name: str) -> tuple[str, str]:
        """The node of a session and its id there; raises a `Refusal`."""
        owner = self.owner(name)
        if owner is None:
            raise self.not_found(name)
        return owner

    def owner(self, name: str) -> tuple[str, str] | None:
        """The node of a session and its id there."""
        known = self._owners.get(name)
        if known is not None:
            return known
        split = split_name(name)
        return split if split is not None and split[0] in self._nodes else None

    def session_of(self, node: str, session: str) -> ListedSession | None:
        """The last known row of a session of a machine."""
        entry = self._nodes.get(node)
        return None if entry is None else entry.sessions().get(session)

    def started(self, node: str, session: str) -> None:
        """A node started a session; its row may arrive later than a client opens the session."""
        self._owners.setdefault(session, (node, session))

    def with_folder(self, cwd: str) -> list[str]:
        """The machines that are here and have sessions in a folder."""
        return [
            node.id
            for node in self._nodes.values()
            if node.here and any(row.cwd == cwd for row in node.sessions().values())
        ]

    # Within

    def _show(self, entry: NodeEntry, changed: LobbyChange) -> None:
        self._show_sessions(entry, changed.sessions)
        self._show_inbox(entry, changed.inbox)
        if changed.server:  # The number of running sessions is counted again with each beat.
            self._show_server()
            self._show_node(entry)

    def _show_sessions(self, entry: NodeEntry, changed: dict[str, frozenset[str]] | None) -> None:
        if changed is None:
            rows = entry.sessions()
            for session in entry.names.keys() - rows.keys():
                self._remove_session(entry, session)
            for row in rows.values():
                self._put_session(entry, row)
            return
        for session, fields in changed.items():
            if fields and fields <= WORKING_FIELDS:
                self._show_working(entry, session, fields)
                continue
            self._late.pop((entry.id, session), None)
            current = entry.lobby.row(session)
            if current is None:
                self._remove_session(entry, session)
            else:
                self._put_session(entry, current)

    def _show_working(self, entry: NodeEntry, session: str, fields: frozenset[str]) -> None:
        """Show the status of a session that works, and the rest later."""
        if fields & SLOW_FIELDS:
            self._late[entry.id, session] = None
        status = entry.lobby.status(session) if STATUS in fields else None
        name = entry.names.get(session, "")
        if status is not None and self._owners.get(name) == (entry.id, session):
            self._lobby.set("sessions", name, status=status)

    def _show_late(self, now: float) -> None:
        """Show the slow changes, if those before them were not shown just now."""
        if now < self._late_until or not self._late:
            return
        late, self._late = self._late, {}
        self._late_until = now + SLOW_ROW_S * len(late)
        for node, session in late:
            entry = self._nodes.get(node)
            row = None if entry is None else entry.lobby.row(session)
            if entry is not None and row is not None:
                self._put_session(entry, row)

    def _put_session(self, entry: NodeEntry, row: ListedSession) -> None:
        name = name_of(entry.id, row.id, row.source)
        before = entry.names.get(row.id)
        if before not in (None, name):  # The CLI's own session was resumed by the node.
            self._remove_session(entry, row.id)
        entry.names[row.id] = name
        before_owner = self._owners.get(name)
        if before_owner is not None and before_owner[0] != entry.id:
            if not self._has_more_right(row, *before_owner):
                return  # It was moved from here to there.
            self._owners[name] = entry.id, row.id
            self.on_moved(name, entry.id, row.id)
        self._owners[name] = entry.id, row.id
        self._lobby.put("sessions", structs.replace(row, id=name, node=entry.id))

    def _remove_session(self, entry: NodeEntry, session: str) -> None:
        name = entry.names.pop(session, None)
        if name is not None and self._owners.get(name, ("",))[0] == entry.id:
            del self._owners[name]
            self._lobby.remove("sessions", name)
            for other in self._nodes.values():  # What is left on a machine that it was moved from.
                row = other.sessions().get(session) if session in other.names else None
                if row is not None and other is not entry:
                    self._put_session(other, row)

    def _has_more_right(self, row: ListedSession, node: str, session: str) -> bool:
        """Whether a row is of a later generation than that of another machine."""
        other = self._nodes.get(node)
        other_row = None if other is None else other.sessions().get(session)
        if other_row is None:
            return True
        return (row.generation, row.moved is None) > (other_row.generation, other_row.moved is None)

    def _show_inbox(self, entry: NodeEntry, changed: set[str] | None) -> None:
        shown = self._inbox.setdefault(entry.id, set())
        if changed is None:
            rows = entry.lobby.inbox()
            for row_id in shown - rows.keys():
                self._lobby.remove("inbox", row_id)
            shown.intersection_update(rows)
            for row in rows.values():
                self._put_request(entry, row, shown)
            return
        for row_id in changed:
            current = entry.lobby.request(row_id)
            if current is None:
                shown.discard(row_id)
                self._lobby.remove("inbox", row_id)
            else:
                self._put_request(entry, current, shown)

    def _put_request(self, entry: NodeEntry, row: InboxRow, shown: set[str]) -> None:
        shown.add(row.id)
        name = entry.names.get(row.session, row.session)
        self._lobby.put("inbox", structs.replace(row, session=name, node=entry.id))

    def _show_node(self, entry: NodeEntry) -> None:
        beat, server = entry.beat, entry.lobby.server()
        row = NodeRow(
            id=entry.id,
            name=entry.name,
            state=self._state(entry),
            since=entry.since,
            agent=server.agent,
            store=server.store,
            running=sum(1 for each in self._lobby_rows(entry) if each.live),
            roots=server.roots,
            limits=server.limits,
        )
        if beat is not None:
            row = structs.replace(
                row,
                version=beat.version,
                cli_version=beat.cli_version,
                draining=beat.draining,
                load=round(beat.load, 1),  # Each change is sent to every client.
                disk_free=beat.disk_free // DISK_STEP * DISK_STEP,
                disk_total=beat.disk_total,
                replicated=beat.replicates,
                problem=_too_old(beat),
            )
        self._lobby.put("nodes", row)

    def _state(self, entry: NodeEntry) -> str:
        if entry.here:
            return "here"
        return "gone" if self._clock() - entry.since > GONE_S else "away"

    def _lobby_rows(self, entry: NodeEntry) -> list[ListedSession]:
        rows = (self._lobby.session(name) for name in entry.names.values())
        return [row for row in rows if row is not None]

    def _show_server(self) -> None:
        """What a client of the gateway may assume: what holds on some machine."""
        servers = [entry.lobby.server() for entry in self._nodes.values() if entry.here]
        ceilings = sorted({server.mode_ceiling for server in servers if server.mode_ceiling})
        first = servers[0] if servers else ServerInfo()
        self._lobby.set_server(
            agent=first.agent,
            version=self._version,
            mode_ceiling=ceilings[0] if len(ceilings) == 1 else first.mode_ceiling,
            roots=tuple(dict.fromkeys(root for server in servers for root in server.roots)),
            budgets=tuple(each for server in servers for each in server.budgets),
            limits=tuple(each for server in servers for each in server.limits),
            profiles=tuple(
                {each.name: each for server in servers for each in server.profiles}.values()
            ),
            continue_at_reset=first.continue_at_reset,
            terminal=any(server.terminal for server in servers),
        )


def _too_old(beat: Beat) -> str | None:
    """What is wrong with a machine whose protocol is older than the gateway's."""
    if beat.v >= VERSION:
        return None
    version = plain_name(beat.version, "unknown")
    return f"Its version of Fairlead ({version}) is too old for this gateway. Update it."
