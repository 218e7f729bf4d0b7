"""The lifecycle of a session's process: the table, its laws, and a real process that follows it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from fairlead.host.options.options import Options
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.session.lifecycle import (
    TRANSITIONS,
    Event,
    IllegalTransition,
    Lifecycle,
    State,
)
from fairlead.server.session.live_session import LiveSession
from tests.launching import python_launcher
from tests.server.server_harness import AGENT, QUICK
from tests.server.session.gated_store import Gate

ALL = list(product(State, Event))


def in_state(state: State) -> Lifecycle:
    lifecycle = Lifecycle()
    lifecycle.state = state
    return lifecycle


@pytest.mark.parametrize(("state", "event"), ALL, ids=lambda value: value.value)
def test_B59_an_event_leads_where_the_table_says_or_is_refused(state: State, event: Event) -> None:
    lifecycle = in_state(state)
    after = TRANSITIONS[state].get(event)
    assert lifecycle.may(event) is (after is not None)
    if after is None:
        with pytest.raises(IllegalTransition, match=f"{event.value}.*{state.value}"):
            lifecycle.happen(event)
        assert lifecycle.state is state
    else:
        lifecycle.happen(event)
        assert lifecycle.state is after


@pytest.mark.parametrize(("state", "event"), ALL, ids=lambda value: value.value)
def test_B59_the_laws_hold_for_every_transition(state: State, event: Event) -> None:
    before, after = in_state(state), in_state(TRANSITIONS[state].get(event, state))
    if event is Event.EXIT and before.may(event):
        assert before.live
        assert after.state is State.ENDED
    if event is Event.STOP:
        assert before.may(event), "a stop is possible at any time"
        assert not after.ready
        assert after.live is before.live, "a stop waits for the end of the process"
    if after.ready and not before.ready:
        assert (state, event) == (State.STARTING, Event.READY)
    if after.live and not before.live:
        assert event is Event.RESERVE, "only a reservation makes a session live"
    assert before.may(Event.RESERVE) is not before.live
    assert sum((before.starting, before.ready, before.stopping)) == before.live


def test_B59_every_state_is_reached_and_every_session_can_end() -> None:
    reached = {State.ABSENT}
    while True:
        more = {after for state in reached for after in TRANSITIONS[state].values()} | reached
        if more == reached:
            break
        reached = more
    assert reached == set(State)
    for state in State:
        lifecycle = in_state(state)
        lifecycle.happen(Event.STOP)
        if lifecycle.live:
            lifecycle.happen(Event.EXIT)
        assert not lifecycle.live


async def test_B59_a_session_follows_the_table(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    agent = python_launcher(tmp_path / "claude-scripted", AGENT, log)
    options = Options(agent=agent, cwd=tmp_path, graces=QUICK)
    gate = Gate()
    gate.open.set()
    live = LiveSession("s", gate, Limits(), published=lambda *_: None)
    seen = [live.lifecycle.state.value]

    def look() -> None:
        seen.append(live.lifecycle.state.value)

    live.reserve()
    look()
    with pytest.raises(Refusal, match="already running"):
        live.reserve()
    await live.start(options)
    look()
    live.release()  # Of no effect: the start has come to a process.
    look()
    await live.stop()
    look()
    await live.stop()
    look()
    live.reserve()
    look()
    live.release()
    look()
    assert seen == [
        "absent", "starting", "running", "running", "ended", "ended", "starting", "absent",
    ]  # fmt: skip
    await live.close()


async def test_B59_a_stop_before_the_process_prevents_the_start(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    agent = python_launcher(tmp_path / "claude-scripted", AGENT, log)
    gate = Gate()
    gate.open.set()
    live = LiveSession("s", gate, Limits(), published=lambda *_: None)
    live.reserve()
    await live.stop()
    with pytest.raises(Refusal, match="stopped before"):
        await live.start(Options(agent=agent, cwd=tmp_path, graces=QUICK))
    live.release()
    assert live.lifecycle.state is State.ABSENT
    assert not log.exists()
    await live.close()


async def test_B59_a_start_that_fails_leaves_an_ended_session(tmp_path: Path) -> None:
    gate = Gate()
    gate.open.set()
    live = LiveSession("s", gate, Limits(), published=lambda *_: None)
    for agent in (tmp_path / "missing", python_launcher(tmp_path / "dies", Path("/dev/null"))):
        live.reserve()
        with pytest.raises(Exception, match=r"missing|ended|version"):
            await live.start(Options(agent=agent, cwd=tmp_path, graces=QUICK, version="2.1.325"))
        assert live.lifecycle.state is State.ENDED
    await live.close()
