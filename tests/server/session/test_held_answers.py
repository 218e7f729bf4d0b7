"""An answer can be undone before the CLI gets it; a denial can cover the calls that follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import (
    AnswerQuestions,
    ConfirmAnswer,
    Decide,
    DecidePlan,
    Interrupt,
    Stop,
    UndoAnswer,
)
from tests.launching import python_launcher
from tests.server.intents.applied_settings import settings_applied
from tests.server.server_harness import AGENT, ServerHarness, device
from tests.server.session.asking import (
    APPROVER,
    OPERATOR,
    RULE,
    WAIT,
    answer,
    ask,
    asked,
    decide,
)

NEVER_ENDS = Limits(restart_delays_s=(0.0,), store_retry_s=0.1, undo_s=3_600.0)
"""The undo period does not end by itself: the test ends it."""
AT_ONCE = Limits(restart_delays_s=(0.0,), store_retry_s=0.1, undo_s=0.0)
VIEWER = device("viewer", "screen")


def held(session: str, row: dict[str, Any], decision: str = "deny", **more: Any) -> Decide:
    return decide(session, row, decision, hold=True, **more)


async def actions(harness: ServerHarness, session: str) -> list[str]:
    return sorted(record.action for record in await harness.store.audit(session))


async def test_B65_a_held_denial_is_shown_to_every_client_and_not_written(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS, clock=lambda: 100.0) as harness:
        session, row = await asked(harness)
        hub_client = await harness.hub_client(session)
        result = await harness.act(held(session, row), APPROVER)
        assert (result.ok, result.result) == (True, {"decision": "deny", "held_until": 3_700.0})
        (shown,) = await harness.pending(session)
        assert shown["details"]["held"] == {
            "by": "phone",
            "decision": "deny",
            "until": 3_700.0,
            "denies": True,
        }
        hub_client.drain(1e9)
        assert hub_client.state is not None
        assert hub_client.state["pending"] == [shown]
        (listed,) = harness.lobby("inbox").values()
        assert listed["held"] == shown["details"]["held"]
        assert harness.answers() == {}
        assert await actions(harness, session) == ["held:deny"]


async def test_B65_the_denial_is_written_when_the_period_ends(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=AT_ONCE) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row, message="No."), OPERATOR)).ok
        assert (await answer(harness))["message"] == "No."
        live = await harness.state(session, "idle")
        (settled,) = live.transcript.settled
        assert (settled.outcome, settled.by) == ("answered", "laptop")
        assert await actions(harness, session) == ["decided:deny", "held:deny"]


async def test_B65_undo_opens_the_request_again(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        undo = UndoAnswer(session=session, request_id=row["id"])
        assert (await harness.act(undo, APPROVER)).code == "conflict"
        assert (await harness.act(held(session, row), APPROVER)).ok
        assert (await harness.act(undo, VIEWER)).code == "forbidden"
        assert (await harness.act(undo, OPERATOR)).ok
        (shown,) = await harness.pending(session)
        assert "held" not in shown["details"]
        (listed,) = harness.lobby("inbox").values()
        assert listed.get("held") is None
        assert harness.answers() == {}
        assert (await harness.act(decide(session, row, "allow"), APPROVER)).ok
        assert (await answer(harness))["behavior"] == "allow"
        assert (await harness.act(undo, OPERATOR)).code == "already_resolved"


async def test_B65_a_second_denial_confirms_and_an_approval_is_rejected(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row), APPROVER)).ok
        late = await harness.act(decide(session, row, "allow"), OPERATOR)
        assert (late.code, "phone is denying" in (late.message or "")) == ("conflict", True)
        assert (await harness.act(held(session, row), OPERATOR)).code == "conflict"
        assert harness.answers() == {}
        assert (await harness.act(decide(session, row, "deny", message="Stop that."), OPERATOR)).ok
        assert (await answer(harness))["message"] == "Stop that."
        live = await harness.state(session, "idle")
        assert live.transcript.settled[0].by == "laptop"


async def test_B65_confirming_writes_the_denial_with_its_message(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        confirm = ConfirmAnswer(session=session, request_id=row["id"])
        assert (await harness.act(confirm, APPROVER)).code == "conflict"
        assert (await harness.act(held(session, row, message="Not now."), OPERATOR)).ok
        assert (await harness.act(confirm, APPROVER)).ok
        assert (await answer(harness))["message"] == "Not now."
        live = await harness.state(session, "idle")
        assert live.transcript.settled[0].by == "laptop"


async def test_B65_the_cli_may_withdraw_the_request_meanwhile(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row), APPROVER)).ok
        assert (await harness.act(Interrupt(session=session))).ok
        live = await harness.state(session, "idle")
        (settled,) = live.transcript.settled
        assert settled.outcome != "answered"
        await live.requests.finish()  # As if the undo period ended now.
        assert harness.answers() == {}
        assert "decided:deny" not in await actions(harness, session)
        undo = UndoAnswer(session=session, request_id=row["id"])
        assert (await harness.act(undo, APPROVER)).code == "already_resolved"


async def test_B65_a_stop_writes_the_denial_at_once(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row), APPROVER)).ok
        assert (await harness.act(Stop(session=session))).ok
        await harness.until(lambda: not harness.live(session).live)
        (settled,) = harness.live(session).transcript.settled
        assert (settled.outcome, settled.by) == ("answered", "phone")
        assert "decided:deny" in await actions(harness, session)


async def test_B65_an_approval_can_be_held_and_a_denial_wins_over_it(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row, "allow"), APPROVER)).ok
        (shown,) = await harness.pending(session)
        assert (shown["details"]["held"]["denies"], harness.answers()) == (False, {})
        assert (await harness.act(decide(session, row, "deny"), OPERATOR)).ok
        assert (await answer(harness))["behavior"] == "deny"


async def test_B65_a_held_approval_is_written_when_confirmed(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row, "allow"), APPROVER)).ok
        confirm = ConfirmAnswer(session=session, request_id=row["id"])
        assert (await harness.act(confirm, APPROVER)).ok
        assert (await answer(harness))["behavior"] == "allow"


async def test_B65_a_stop_does_not_write_a_held_approval(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session, row = await asked(harness)
        assert (await harness.act(held(session, row, "allow"), APPROVER)).ok
        assert (await harness.act(Stop(session=session))).ok
        await harness.until(lambda: not harness.live(session).live)
        (settled,) = harness.live(session).transcript.settled
        assert (settled.outcome != "answered", harness.answers()) == (True, {})


async def test_B65_plans_and_questions_can_be_held_too(tmp_path: Path) -> None:
    questions = [{"question": "Why?", "options": [{"label": "A"}, {"label": "B"}]}]
    async with ServerHarness(tmp_path, limits=NEVER_ENDS) as harness:
        session = await harness.new()
        await harness.say(
            session,
            ask("plan", tool="ExitPlanMode", input={"plan": "x"}),
            ask("why", tool="AskUserQuestion", input={"questions": questions}),
            WAIT,
        )
        live = harness.live(session)
        await harness.until(lambda: len(live.transcript.pending) == 2)
        plan, why = await harness.pending(session)
        reject = DecidePlan(
            session=session,
            request_id=plan["id"],
            input_sha256=plan["input_sha256"],
            approve=False,
            hold=True,
        )
        skip = AnswerQuestions(
            session=session,
            request_id=why["id"],
            input_sha256=why["input_sha256"],
            answers=None,
            hold=True,
        )
        assert (await harness.act(reject)).ok
        assert (await harness.act(skip)).ok
        held_rows = [
            request["details"]["held"]["decision"] for request in await harness.pending(session)
        ]
        assert (held_rows, harness.answers()) == (["rejected", "declined"], {})


async def test_B66_always_deny_denies_this_call_and_the_ones_like_it(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[RULE])
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await harness.act(denied, APPROVER)).ok
        first = await answer(harness)
        assert (first["behavior"], first.get("updatedPermissions")) == ("deny", None)
        await harness.state(session, "idle")
        await harness.say(session, ask("ask-2", input={"command": "make all"}), WAIT)
        second = await answer(harness, "ask-2")
        assert (second["behavior"], "make" in second["message"]) == ("deny", True)
        await harness.state(session, "idle")
        # This CLI takes settings while it runs, so it knows the rule already.
        (given,) = await harness.until(lambda: settings_applied(harness))
        assert given == {"permissions": {"deny": ["Bash(make:*)"]}}


async def test_B66_an_older_cli_gets_the_rule_with_the_next_approval(tmp_path: Path) -> None:
    old = '[ "$1" = --version ] && { echo "2.1.38 (Claude Code)"; exit; }\n'
    log = tmp_path / "agent.log"
    agent = python_launcher(tmp_path / "claude-old", AGENT, log, before=old)
    async with ServerHarness(tmp_path, agent=agent) as harness:
        session, row = await asked(harness, suggestions=[RULE])
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await harness.act(denied, APPROVER)).ok
        assert (await answer(harness))["behavior"] == "deny"
        await harness.state(session, "idle")
        await harness.say(session, ask("ask-2", input={"command": "ls"}), WAIT)
        (other,) = await harness.pending(session)
        assert (await harness.act(decide(session, other), APPROVER)).ok
        second = await answer(harness, "ask-2")
        rule = {**RULE, "behavior": "deny", "destination": "session"}
        assert (second["behavior"], second["updatedPermissions"]) == ("allow", [rule])
        assert settings_applied(harness) == []


async def test_B66_always_deny_also_denies_what_is_open_already(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        live = harness.live(session)
        like = ask("like", input={"command": "make all"})
        other = ask("other", input={"command": "ls"})
        await harness.say(session, ask(suggestions=[RULE]), like, other, {"wait": 3})
        row = (await harness.pending(session, 3))[0]
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await harness.act(denied, APPROVER)).ok
        assert (await answer(harness))["behavior"] == "deny"
        assert (await answer(harness, "like"))["behavior"] == "deny"
        await harness.until(lambda: len(live.transcript.pending) == 1)
        (left,) = live.transcript.pending
        assert (left.id, "other" in harness.answers()) == ("other", False)


async def test_B66_a_mode_cannot_be_denied(tmp_path: Path) -> None:
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[mode])
        index = next(choice["index"] for choice in row["choices"] if not choice["deniable"])
        refused = await harness.act(decide(session, row, "deny_always", choices=(index,)))
        assert (refused.code, harness.answers()) == ("bad_message", {})
        assert (
            await harness.act(decide(session, row, "never", choices=(0,)))
        ).code == "bad_message"
