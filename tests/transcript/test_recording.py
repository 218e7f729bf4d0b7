"""A recording's entries as what the reducer is fed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairlead.transcript.recording import recorded
from fairlead.transcript.state.facts import ProcessExited, ProcessStarted
from fairlead.wire.events import KeepAlive, Malformed
from fairlead.wire.inputs import ForeignPrompt, Request, UnknownInput
from tests.transcript.recordings import RECORDINGS, fold, plain


def test_T129_lines_and_objects_are_the_same_recording() -> None:
    name = "2.1.325/subagent"
    entries = [
        json.loads(line) for line in (RECORDINGS / f"{name}.ndjson").read_text().splitlines()
    ]
    lines = [
        {"t": entry["t"], "dir": entry["dir"], "line": json.dumps(entry["msg"])}
        if entry["dir"] in ("in", "out")
        else entry
        for entry in entries
    ]
    first, second = (
        fold(event for entry in form if (event := recorded(entry)) is not None)
        for form in (entries, lines)
    )
    assert plain(first) == plain(second)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"dir": "out", "msg": {"type": "keep_alive"}}, KeepAlive),
        ({"dir": "out", "line": '{"type":"keep_alive"}'}, KeepAlive),
        ({"dir": "out", "msg": {"_raw": "Usage: claude"}}, Malformed),
        (
            {"dir": "in", "msg": {"type": "user", "message": {"role": "user", "content": "hi"}}},
            ForeignPrompt,
        ),
        ({"dir": "in", "msg": "not json"}, UnknownInput),
        ({"dir": "in", "msg": {"_hex": "ff00"}}, UnknownInput),
        ({"dir": "in", "msg": {"_hex": "zz"}}, UnknownInput),
        ({"dir": "end", "msg": {"rc": 0}}, ProcessExited),
        ({"dir": "note", "msg": {"argv": ["claude"]}}, ProcessStarted),
    ],
)
def test_T129_each_direction_is_fed_as_what_it_is(entry: dict[str, Any], kind: type) -> None:
    event = recorded({"t": 1.5, **entry})
    assert event is not None
    assert (type(event[0]), event[1]) == (kind, 1.5)


def test_T129_a_request_of_the_host_is_one() -> None:
    event = recorded({"dir": "in", "msg": {"type": "control_request", "request_id": "r",
                                          "request": {"subtype": "interrupt"}}})  # fmt: skip
    assert event is not None
    assert isinstance(event[0], Request)


@pytest.mark.parametrize(
    "entry", [{"dir": "api", "msg": {}}, {"dir": "note", "msg": "phase 2"}, {"dir": 7}, {}]
)
def test_T129_what_is_for_the_reader_feeds_nothing(entry: dict[str, Any]) -> None:
    assert recorded(entry) is None


@pytest.mark.parametrize(
    ("argv", "resumed"),
    [
        (["claude"], None),
        (["claude", "--resume", "s-1"], "s-1"),
        (["claude", "--resume"], None),
        (["claude", "--continue"], "latest"),
    ],
)
def test_T129_the_arguments_say_whether_a_session_was_resumed(
    argv: list[str], resumed: str | None
) -> None:
    assert recorded({"dir": "note", "msg": {"argv": argv}}) == (ProcessStarted(resumed), 0.0)


def test_T129_an_exit_code_that_is_no_number_is_none() -> None:
    event = recorded({"dir": "end", "msg": {"rc": "did not exit", "stderr": "x"}})
    assert event is not None
    assert event[0] == ProcessExited(returncode=None, stderr="x")
