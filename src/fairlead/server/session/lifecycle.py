"""The lifecycle of a session's CLI process, as a table of states and events. Pure.

    absent ──reserve──► starting ──ready──► running
       ▲                  │  │  │              │  │
       └─────release──────┘  │  └─────stop──►┌─┘  │
                             │          stopping  │
                             │               │    │
                             └────exit────► ended ◄┘      ended ──reserve──► starting

    ABSENT     No process was started since the session was loaded, or a start was given up.
    STARTING   A process will be started, or is started and has not finished its handshake.
    RUNNING    The process takes prompts.
    STOPPING   The server ends the process, or gives up a start that has not come to a process.
    ENDED      The process has ended, by itself or because it was stopped.

Everything else that the server wants to know is derived from the state: whether the session
counts as live, whether it takes prompts, and whether an exit was expected. An event that the
table does not list for a state is a bug of the caller and raises `IllegalTransition`. Three
entries keep their state on purpose. A stop of a session that does not run changes nothing. A
handshake may finish while the process is being stopped, or in the same moment in which the
process ends; neither makes the session run again.
"""

from __future__ import annotations

from enum import Enum

__all__ = ["TRANSITIONS", "Event", "IllegalTransition", "Lifecycle", "State"]


class State(Enum):
    """Where the process of a session is."""

    ABSENT = "absent"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Event(Enum):
    """What can happen to the process of a session."""

    RESERVE = "reserve"
    """A start was decided; from now on the session counts as live."""
    RELEASE = "release"
    """The start was given up before there was a process."""
    READY = "ready"
    """The handshake is finished."""
    STOP = "stop"
    """The server wants the process to end."""
    EXIT = "exit"
    """The process has ended, or it could not be started."""


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.ABSENT: {Event.RESERVE: State.STARTING, Event.STOP: State.ABSENT},
    State.STARTING: {
        Event.RELEASE: State.ABSENT,
        Event.READY: State.RUNNING,
        Event.STOP: State.STOPPING,
        Event.EXIT: State.ENDED,
    },
    State.RUNNING: {Event.STOP: State.STOPPING, Event.EXIT: State.ENDED},
    State.STOPPING: {
        Event.RELEASE: State.ABSENT,
        Event.READY: State.STOPPING,
        Event.STOP: State.STOPPING,
        Event.EXIT: State.ENDED,
    },
    State.ENDED: {
        Event.RESERVE: State.STARTING,
        Event.READY: State.ENDED,
        Event.STOP: State.ENDED,
    },
}

_LIVE = frozenset({State.STARTING, State.RUNNING, State.STOPPING})


class IllegalTransition(RuntimeError):
    """An event that cannot happen in the current state; a bug in the server."""

    def __init__(self, state: State, event: Event) -> None:
        super().__init__(f"the event {event.value!r} cannot happen in the state {state.value!r}")
        self.state = state
        self.event = event


class Lifecycle:
    """The state of one session's process."""

    def __init__(self) -> None:
        self.state = State.ABSENT

    def happen(self, event: Event) -> None:
        """Go to the state that follows; raises `IllegalTransition` if there is none."""
        after = TRANSITIONS[self.state].get(event)
        if after is None:
            raise IllegalTransition(self.state, event)
        self.state = after

    def may(self, event: Event) -> bool:
        """Whether an event can happen now."""
        return event in TRANSITIONS[self.state]

    @property
    def live(self) -> bool:
        """Whether there is a process, or one will be started."""
        return self.state in _LIVE

    @property
    def ready(self) -> bool:
        """Whether the process takes prompts and requests."""
        return self.state is State.RUNNING

    @property
    def starting(self) -> bool:
        """Whether the session is not ready yet but will be."""
        return self.state is State.STARTING

    @property
    def stopping(self) -> bool:
        """Whether the server ends the process, so that its exit is expected."""
        return self.state is State.STOPPING
