"""Plans: shown to the user, approved, approved with edits, rejected (CLI-400)."""

from __future__ import annotations

import json
import re
from typing import Any

from fairlead import Approve, PlanRequest, Reject, Session
from fairlead.model_api.replies import Reply, use
from fairlead.model_api.request import ModelRequest
from fairlead.testing.real_cli import RealCli
from fairlead.wire.system import Init, Status
from fairlead.wire.versions import Feature, Version
from tests.e2e.real_cli.cli_harness import CliHarness, all_of, one_of, play, tool_lines

PLAN = "# Plan\n\n1. Do it.\n"


class Reviewer:
    """A plan handler: the given replies in order."""

    def __init__(self, *replies: Approve | Reject) -> None:
        self.shown: list[PlanRequest] = []
        self._replies = list(replies)

    async def __call__(self, request: PlanRequest) -> Approve | Reject:
        self.shown.append(request)
        return self._replies.pop(0)


def write_the_plan(request: ModelRequest) -> Reply:
    """Do what the CLI tells the model: write the plan into the file that it names."""
    (path,) = set(re.findall(r"/[\w./-]*/plans/[\w-]+\.md", json.dumps(request.body)))
    return use("Write", file_path=path, content=PLAN)


async def show_a_plan(harness: CliHarness, session: Session) -> list[Any]:
    harness.model.push(write_the_plan, use("ExitPlanMode", plan=PLAN))
    return await play(session, "plan it")


def modes(messages: list[Any]) -> list[str]:
    return [status.permission_mode for status in all_of(Status, messages) if status.permission_mode]


async def test_a_plan_is_shown_and_can_be_rejected_with_comments(harness: CliHarness) -> None:
    """CLI-407: plan in the input; reject a plan, the mode stays."""
    reviewer = Reviewer(Reject("Think of the tests."))
    async with harness.session(permission_mode="plan", on_plan=reviewer) as session:
        messages = await show_a_plan(harness, session)
        again = await play(session, "again")
    (shown,) = reviewer.shown
    assert shown.plan == PLAN
    assert tool_lines(messages)[-1][1].is_error is True
    (told,) = harness.model.requests[2].tool_results
    assert "Think of the tests." in told.text
    assert one_of(Init, again).permission_mode == "plan"


async def test_an_unsaved_plan_is_shown_if_the_cli_has_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-407: 2.1.325 strips the plan from the input and knows its file only (get_plan)."""
    version = Version.parse(cli.version)
    assert version is not None
    reviewer = Reviewer(Reject("Write it down."))
    harness.model.push(use("ExitPlanMode", plan=PLAN))
    async with harness.session(permission_mode="plan", on_plan=reviewer) as session:
        await play(session, "plan it")
        if version.has(Feature.PLAN_IN_INPUT):
            assert reviewer.shown[0].plan == PLAN
        else:
            assert reviewer.shown[0].plan is None
            harness.model.push(write_the_plan)
            await play(session, "write it down")
            assert await session.plan() == PLAN


async def test_an_approved_plan_ends_plan_mode(harness: CliHarness) -> None:
    """CLI-407: approve a plan; the mode falls back to default, edits ask again."""
    reviewer = Reviewer(Approve())
    async with harness.session(permission_mode="plan", on_plan=reviewer) as session:
        messages = await show_a_plan(harness, session)
        again = await play(session, "again")
    assert tool_lines(messages)[-1][1].is_error is not True
    assert modes(messages)[-1] == "default"
    assert one_of(Init, again).permission_mode == "default"


async def test_a_plan_approved_with_edits_continues_in_acceptEdits(harness: CliHarness) -> None:
    """CLI-407: approve a plan with setMode acceptEdits; then a write passes without asking."""
    reviewer = Reviewer(Approve(accept_edits=True))
    file = harness.project / "a.txt"
    harness.model.push(
        write_the_plan,
        use("ExitPlanMode", plan=PLAN),
        use("Write", file_path=str(file), content="x"),
    )
    async with harness.session(permission_mode="plan", on_plan=reviewer) as session:
        messages = await play(session, "plan it")
    assert modes(messages)[-1] == "acceptEdits"
    assert file.read_text() == "x"


async def test_entering_plan_mode_does_not_ask(harness: CliHarness) -> None:
    """CLI-407: EnterPlanMode: no request, the new mode is reported."""
    async with harness.session() as session:
        messages = await harness.use(session, "EnterPlanMode")
    assert modes(messages)[-1] == "plan"
