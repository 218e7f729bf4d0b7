"""The questions of gateways to a node with a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from fairlead.fleet.bus.bus import Message
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Answer, DoAsk, OpenAsk, decode, decode_body, encode
from tests.fleet.bus.contract import Inbox
from tests.fleet.fleet_harness import fleet


async def test_a_question_that_is_repeated_before_its_answer_is_answered_once(
    tmp_path: Path,
) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as made:
        node, gate = made.nodes[0], made.gateways[0]
        paired = await gate.gateway.devices.make_device("phone", "owner")
        intent = msgspec.json.encode({"kind": "new_session", "cwd": str(node.project)})
        ask = DoAsk(device=paired.device, client="c", n=1, intent=msgspec.Raw(intent))
        inbox = Inbox()
        await gate.bus.subscribe("_INBOX.test.>", inbox)
        requests = node.node.requests
        for number in range(30):
            reply = f"_INBOX.test.{number}"
            requests._take(Message(subjects.do(node.id), encode(ask), reply))
        assert len(requests._tasks) == 1
        answers = [await inbox.next() for _ in range(4)]
        assert {each.subject for each in answers} == {f"_INBOX.test.{n}" for n in range(26, 30)}
        assert len({each.payload for each in answers}) == 1
        assert len(node.service.registry.sessions.rows) == 1


@pytest.mark.parametrize(
    ("question", "payload", "code"),
    [
        ("open", encode(OpenAsk(document="nothing")), "not_found"),
        ("open", encode(OpenAsk(document="a.b>")), "not_found"),
        ("open", b"{", "bad_message"),
        ("nonsense", b"{}", "unsupported_message"),
        ("piece", b'{"transfer":"x","index":1}', "stale"),
        ("last", b'{"device":"unknown","client":"c"}', "forbidden"),
        ("http", b'{"transfer":"t","device":"unknown","method":"GET","path":"/"}', "forbidden"),
    ],
)
async def test_N13_a_question_that_cannot_be_answered_is_refused_with_a_code(
    tmp_path: Path, question: str, payload: bytes, code: str
) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as made:
        bus = made.gateways[0].bus
        subject = f"fl.ask.node0.{question}"
        answer = decode(await bus.request(subject, payload, 30.0), Answer)
        assert answer.code == code
        assert answer.message


async def test_an_intent_of_an_unknown_kind_tells_to_update_the_machine(tmp_path: Path) -> None:
    async with fleet(tmp_path, nodes=1, gateways=1) as made:
        gate = made.gateways[0]
        paired = await gate.gateway.devices.make_device("phone", "owner")
        ask = DoAsk(device=paired.device, client="c", n=1, intent=msgspec.Raw(b'{"kind":"fly"}'))
        payload = await asyncio.wait_for(gate.bus.request("fl.do.node0", encode(ask), 30.0), 60)
        _, body = decode_body(payload, Answer)
        result = msgspec.json.decode(body)
        assert (result["ok"], result["code"]) == (False, "bad_message")
        assert "update it" in result["message"]
