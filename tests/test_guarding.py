"""A policy in front of a session's handlers, on a real child program."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fairlead import Allow, Options, PermissionRequest, Session
from fairlead.host.process.process import Graces
from fairlead.permissions import AuditLog, Decider, Guard, Outcome, RuleBook
from fairlead.wire.events import Unknown
from tests.host.conftest import Rude, rude

__all__ = ["rude"]

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


def session(agent: Path, guard: Guard, audit: AuditLog, **options: Any) -> Session:
    given = Options(agent=agent, cwd=agent.parent, graces=QUICK, **options)
    return Session(given, guard=guard, audit=audit)


async def answers(live: Session, prompt: str) -> list[dict[str, Any]]:
    turn = await live.send(prompt)
    async with asyncio.timeout(20):
        return [m.data["answer"]["response"] async for m in turn if isinstance(m, Unknown)]


async def never(request: PermissionRequest) -> Allow:
    raise AssertionError("a rule decides this: nobody is asked")


async def test_P47_a_rule_of_the_host_answers_before_a_user_is_asked(
    rude: Rude, tmp_path: Path
) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    guard = Guard(rules=RuleBook.of(allow=["Bash(touch:*)"]))
    async with session(rude("ask"), guard, audit, on_permission=never) as live:
        (answer,) = await answers(live, "1")
    assert answer["behavior"] == "allow"
    (record,) = audit.records()
    assert (record.outcome, record.decider) == (Outcome.ALLOWED, Decider.RULE)
    assert record.rule == "Bash(touch:*)"
    assert len(record.input_sha256) == 64


async def test_P48_what_no_rule_decides_goes_to_the_handler_and_is_written_down(
    rude: Rude, tmp_path: Path
) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    guard = Guard(rules=RuleBook.of(deny=["Bash(touch 1)"]))
    async with session(rude("ask"), guard, audit, on_permission=lambda r: Allow()) as live:
        decisions = await answers(live, "2")
    assert sorted(answer["behavior"] for answer in decisions) == ["allow", "deny"]
    kept = {record.request_id: record for record in audit.records()}
    assert kept["ask-0"].decider is Decider.PROGRAM
    assert (kept["ask-1"].outcome, kept["ask-1"].decider) == (Outcome.DENIED, Decider.RULE)


async def test_P49_plan_only_denies_what_would_change_something(rude: Rude, tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    guard = Guard(plan_only=True, budget_usd=100.0)
    async with session(rude("ask-withdraw"), guard, audit, on_permission=lambda r: Allow()) as live:
        (answer,) = await answers(live, "go")
    assert answer["behavior"] == "deny"
    assert "only planning" in answer["message"]


async def test_a_request_that_is_taken_back_is_written_down_as_such(
    rude: Rude, tmp_path: Path
) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    asked = asyncio.Event()

    async def wait(request: PermissionRequest) -> Allow:
        asked.set()
        await asyncio.Event().wait()
        return Allow()

    async with session(rude("ask-withdraw"), Guard(), audit, on_permission=wait) as live:
        turn = await live.send("go")
        await asyncio.wait_for(asked.wait(), 10)
        await live.control("withdraw_please")
        await turn
    (record,) = audit.records()
    assert (record.outcome, record.decider) == (Outcome.CANCELLED, Decider.CLI)
