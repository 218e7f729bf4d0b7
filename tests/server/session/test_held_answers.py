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
from tests.server.stage import AGENT, Stage, device

NEVER_ENDS = Limits(restart_delays_s=(0.0,), store_retry_s=0.1, undo_s=3_600.0)
"""The undo period does not end by itself: the test ends it."""
AT_ONCE = Limits(restart_delays_s=(0.0,), store_retry_s=0.1, undo_s=0.0)
VIEWER = device("viewer", "screen")


def held(session: str, row: dict[str, Any], decision: str = "deny", **more: Any) -> Decide:
    return decide(session, row, decision, hold=True, **more)


async def actions(stage: Stage, session: str) -> list[str]:
    return sorted(record.action for record in await stage.store.audit(session))


async def test_B65_a_held_denial_is_shown_to_every_client_and_not_written(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS, clock=lambda: 100.0) as stage:
        session, row = await asked(stage)
        robot = await stage.robot(session)
        result = await stage.act(held(session, row), APPROVER)
        assert (result.ok, result.result) == (True, {"decision": "deny", "held_until": 3_700.0})
        (shown,) = await stage.pending(session)
        assert shown["details"]["held"] == {
            "by": "phone",
            "decision": "deny",
            "until": 3_700.0,
            "denies": True,
        }
        robot.drain(1e9)
        assert robot.state is not None
        assert robot.state["pending"] == [shown]
        (listed,) = stage.lobby("inbox").values()
        assert listed["held"] == shown["details"]["held"]
        assert stage.answers() == {}
        assert await actions(stage, session) == ["held:deny"]


async def test_B65_the_denial_is_written_when_the_period_ends(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=AT_ONCE) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row, message="No."), OPERATOR)).ok
        assert (await answer(stage))["message"] == "No."
        live = await stage.state(session, "idle")
        (settled,) = live.transcript.settled
        assert (settled.outcome, settled.by) == ("answered", "laptop")
        assert await actions(stage, session) == ["decided:deny", "held:deny"]


async def test_B65_undo_opens_the_request_again(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        undo = UndoAnswer(session=session, request_id=row["id"])
        assert (await stage.act(undo, APPROVER)).code == "conflict"
        assert (await stage.act(held(session, row), APPROVER)).ok
        assert (await stage.act(undo, VIEWER)).code == "forbidden"
        assert (await stage.act(undo, OPERATOR)).ok
        (shown,) = await stage.pending(session)
        assert "held" not in shown["details"]
        (listed,) = stage.lobby("inbox").values()
        assert listed.get("held") is None
        assert stage.answers() == {}
        assert (await stage.act(decide(session, row, "allow"), APPROVER)).ok
        assert (await answer(stage))["behavior"] == "allow"
        assert (await stage.act(undo, OPERATOR)).code == "already_resolved"


async def test_B65_a_second_denial_confirms_and_an_approval_is_rejected(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row), APPROVER)).ok
        late = await stage.act(decide(session, row, "allow"), OPERATOR)
        assert (late.code, "phone is denying" in (late.message or "")) == ("conflict", True)
        assert (await stage.act(held(session, row), OPERATOR)).code == "conflict"
        assert stage.answers() == {}
        assert (await stage.act(decide(session, row, "deny", message="Stop that."), OPERATOR)).ok
        assert (await answer(stage))["message"] == "Stop that."
        live = await stage.state(session, "idle")
        assert live.transcript.settled[0].by == "laptop"


async def test_B65_confirming_writes_the_denial_with_its_message(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        confirm = ConfirmAnswer(session=session, request_id=row["id"])
        assert (await stage.act(confirm, APPROVER)).code == "conflict"
        assert (await stage.act(held(session, row, message="Not now."), OPERATOR)).ok
        assert (await stage.act(confirm, APPROVER)).ok
        assert (await answer(stage))["message"] == "Not now."
        live = await stage.state(session, "idle")
        assert live.transcript.settled[0].by == "laptop"


async def test_B65_the_cli_may_withdraw_the_request_meanwhile(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row), APPROVER)).ok
        assert (await stage.act(Interrupt(session=session))).ok
        live = await stage.state(session, "idle")
        (settled,) = live.transcript.settled
        assert settled.outcome != "answered"
        await live.requests.finish()  # As if the undo period ended now.
        assert stage.answers() == {}
        assert "decided:deny" not in await actions(stage, session)
        undo = UndoAnswer(session=session, request_id=row["id"])
        assert (await stage.act(undo, APPROVER)).code == "already_resolved"


async def test_B65_a_stop_writes_the_denial_at_once(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row), APPROVER)).ok
        assert (await stage.act(Stop(session=session))).ok
        await stage.until(lambda: not stage.live(session).live)
        (settled,) = stage.live(session).transcript.settled
        assert (settled.outcome, settled.by) == ("answered", "phone")
        assert "decided:deny" in await actions(stage, session)


async def test_B65_an_approval_can_be_held_and_a_denial_wins_over_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row, "allow"), APPROVER)).ok
        (shown,) = await stage.pending(session)
        assert (shown["details"]["held"]["denies"], stage.answers()) == (False, {})
        assert (await stage.act(decide(session, row, "deny"), OPERATOR)).ok
        assert (await answer(stage))["behavior"] == "deny"


async def test_B65_a_held_approval_is_written_when_confirmed(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row, "allow"), APPROVER)).ok
        confirm = ConfirmAnswer(session=session, request_id=row["id"])
        assert (await stage.act(confirm, APPROVER)).ok
        assert (await answer(stage))["behavior"] == "allow"


async def test_B65_a_stop_does_not_write_a_held_approval(tmp_path: Path) -> None:
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session, row = await asked(stage)
        assert (await stage.act(held(session, row, "allow"), APPROVER)).ok
        assert (await stage.act(Stop(session=session))).ok
        await stage.until(lambda: not stage.live(session).live)
        (settled,) = stage.live(session).transcript.settled
        assert (settled.outcome != "answered", stage.answers()) == (True, {})


async def test_B65_plans_and_questions_can_be_held_too(tmp_path: Path) -> None:
    questions = [{"question": "Why?", "options": [{"label": "A"}, {"label": "B"}]}]
    async with Stage(tmp_path, limits=NEVER_ENDS) as stage:
        session = await stage.new()
        await stage.say(
            session,
            ask("plan", tool="ExitPlanMode", input={"plan": "x"}),
            ask("why", tool="AskUserQuestion", input={"questions": questions}),
            WAIT,
        )
        live = stage.live(session)
        await stage.until(lambda: len(live.transcript.pending) == 2)
        plan, why = await stage.pending(session)
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
        assert (await stage.act(reject)).ok
        assert (await stage.act(skip)).ok
        held_rows = [
            request["details"]["held"]["decision"] for request in await stage.pending(session)
        ]
        assert (held_rows, stage.answers()) == (["rejected", "declined"], {})


async def test_B66_always_deny_denies_this_call_and_the_ones_like_it(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        session, row = await asked(stage, suggestions=[RULE])
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await stage.act(denied, APPROVER)).ok
        first = await answer(stage)
        assert (first["behavior"], first.get("updatedPermissions")) == ("deny", None)
        await stage.state(session, "idle")
        await stage.say(session, ask("ask-2", input={"command": "make all"}), WAIT)
        second = await answer(stage, "ask-2")
        assert (second["behavior"], "make" in second["message"]) == ("deny", True)
        await stage.state(session, "idle")
        # This CLI takes settings while it runs, so it knows the rule already.
        (given,) = await stage.until(lambda: settings_applied(stage))
        assert given == {"permissions": {"deny": ["Bash(make:*)"]}}


async def test_B66_an_older_cli_gets_the_rule_with_the_next_approval(tmp_path: Path) -> None:
    old = '[ "$1" = --version ] && { echo "2.1.38 (Claude Code)"; exit; }\n'
    log = tmp_path / "agent.log"
    agent = python_launcher(tmp_path / "claude-old", AGENT, log, before=old)
    async with Stage(tmp_path, agent=agent) as stage:
        session, row = await asked(stage, suggestions=[RULE])
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await stage.act(denied, APPROVER)).ok
        assert (await answer(stage))["behavior"] == "deny"
        await stage.state(session, "idle")
        await stage.say(session, ask("ask-2", input={"command": "ls"}), WAIT)
        (other,) = await stage.pending(session)
        assert (await stage.act(decide(session, other), APPROVER)).ok
        second = await answer(stage, "ask-2")
        rule = {**RULE, "behavior": "deny", "destination": "session"}
        assert (second["behavior"], second["updatedPermissions"]) == ("allow", [rule])
        assert settings_applied(stage) == []


async def test_B66_always_deny_also_denies_what_is_open_already(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        session = await stage.new()
        live = stage.live(session)
        like = ask("like", input={"command": "make all"})
        other = ask("other", input={"command": "ls"})
        await stage.say(session, ask(suggestions=[RULE]), like, other, {"wait": 3})
        row = (await stage.pending(session, 3))[0]
        index = next(choice["index"] for choice in row["choices"] if "make:*" in choice["label"])
        denied = decide(session, row, "deny_always", choices=(index,))
        assert (await stage.act(denied, APPROVER)).ok
        assert (await answer(stage))["behavior"] == "deny"
        assert (await answer(stage, "like"))["behavior"] == "deny"
        await stage.until(lambda: len(live.transcript.pending) == 1)
        (left,) = live.transcript.pending
        assert (left.id, "other" in stage.answers()) == ("other", False)


async def test_B66_a_mode_cannot_be_denied(tmp_path: Path) -> None:
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    async with Stage(tmp_path) as stage:
        session, row = await asked(stage, suggestions=[mode])
        index = next(choice["index"] for choice in row["choices"] if not choice["deniable"])
        refused = await stage.act(decide(session, row, "deny_always", choices=(index,)))
        assert (refused.code, stage.answers()) == ("bad_message", {})
        assert (await stage.act(decide(session, row, "never", choices=(0,)))).code == "bad_message"
