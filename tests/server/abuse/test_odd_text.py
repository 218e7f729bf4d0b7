"""Texts that no well-behaved peer sends: to the server, to the bridge, and from the CLI."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import websockets

from fairlead.server.policy import Policy
from tests.launching import python_launcher
from tests.server.conftest import Client, Served
from tests.server.server_harness import AGENT, ServerHarness

# T-32

ODD = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"type":' * 50_000,
    "deep and closed": '{"type":"open","document":' + "[" * 5_000 + "]" * 5_000 + "}",
    "a huge number": '{"type":"ack","document":"lobby","seq":' + "9" * 10_000 + "}",
    "an exponent": '{"type":"ack","document":"lobby","seq":1e999}',
    "not a number": '{"type":"ack","document":"lobby","seq":NaN}',
    "minus zero": '{"type":"ack","document":"lobby","seq":-0.0}',
    "half a surrogate": '{"type":"open","document":"\\ud800"}',
    "the other half": '{"type":"open","document":"\\udc00 x"}',
    "a nul": '{"type":"open","document":"a\\u0000b"}',
    "a nul as it is": '{"type":"open","document":"a\0b"}',
    "twice the same key": '{"type":"open","type":"hello","document":"x"}',
    "a byte order mark": '\ufeff{"type":"open","document":"x"}',
    "nothing": "",
    "blanks": " " * 1_000_000,
    "many keys": "{" + ",".join(f'"k{n}":1' for n in range(100_000)) + "}",
    "a long text": '{"type":"open","document":"' + "x" * 1_900_000 + '"}',
    "bidi": '{"type":"open","document":"\u202e\u2066x"}',
    "private and last": '{"type":"open","document":"\ue000\uffff\U0010ffff"}',
    "a list": "[1,2,3]",
    "a text": '"hello"',
    "null": "null",
    "__proto__": '{"type":"open","document":"x","__proto__":{"admin":true}}',
}


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("name", ODD)
async def test_R14_a_strange_text_is_answered_and_the_socket_lives(
    served: Served, name: str
) -> None:
    client = await served.client()
    await client.hear("snapshot", document="lobby")
    for binary in (False, True):
        await client.socket.send(ODD[name].encode() if binary else ODD[name])
        answer = await client.hear()
        while answer["type"] in ("changes", "pong"):
            answer = await client.hear()
        assert answer["type"] == "error", answer
        assert len(json.dumps(answer)) < 4_000_000
    assert (await client.intend("new_session", cwd=str(served.project)))["ok"]


@pytest.mark.parametrize("name", ODD)
async def test_R14_a_strange_text_does_not_end_the_bridge(served: Served, name: str) -> None:
    client = Client(served, await served.token())
    url = served.base.replace("http", "ws") + "/bridge"
    client.socket = await websockets.connect(
        url, additional_headers={"Authorization": f"Bearer {client.token}"}
    )
    for binary in (False, True):
        await client.socket.send(ODD[name].encode() if binary else ODD[name])
        assert (await client.hear())["type"] == "error"
    await client.say(type="list_sessions")
    assert (await client.hear())["subtype"] == "session_list"


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("name", ODD)
async def test_R14_a_strange_line_of_the_cli_is_kept_and_the_session_goes_on(
    tmp_path: Path, name: str
) -> None:
    text = ODD[name].replace("\n", " ")
    odd = tmp_path / "odd.txt"
    odd.write_text(text)
    agent = python_launcher(
        tmp_path / "claude-odd",
        AGENT,
        tmp_path / "agent.log",
        before=f'[ "$1" = --version ] || {{ cat {shlex.quote(str(odd))}; echo; }}\n',
    )
    async with ServerHarness(tmp_path, agent=agent, policy=Policy(roots=(tmp_path,))) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        assert harness.prompts() == ["hello"]
        events = await harness.store.read(session, 0, 2_000)
        if text.strip():
            assert any(event.line.strip() == text.encode().strip() for event in events)
        assert live.transcript.status.state == "idle"
