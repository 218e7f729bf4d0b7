"""Permission requests of an agent, and answers to them."""

from __future__ import annotations

from typing import Any

from fairlead.server.protocol.intents import Decide
from tests.server.server_harness import ServerHarness, device

__all__ = ["APPROVER", "OPERATOR", "RULE", "WAIT", "answer", "ask", "asked", "decide"]


APPROVER = device("approver", "phone")


OPERATOR = device("operator", "laptop")


WAIT = {"wait": 1}


RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
    "behavior": "allow",
    "destination": "localSettings",
}


def ask(request_id: str = "ask-1", **fields: Any) -> dict[str, Any]:
    return {"ask": {"id": request_id, "input": {"command": "make", "n": 1}, **fields}}


async def asked(harness: ServerHarness, **fields: Any) -> tuple[str, dict[str, Any]]:
    session = await harness.new()
    await harness.say(session, ask(**fields), WAIT)
    (row,) = await harness.pending(session)
    return session, row


def decide(session: str, row: dict[str, Any], decision: str = "allow", **fields: Any) -> Decide:
    return Decide(
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision=decision,
        **fields,
    )


async def answer(harness: ServerHarness, request_id: str = "ask-1") -> dict[str, Any]:
    await harness.until(lambda: request_id in harness.answers())
    return harness.answers()[request_id]
