"""A permission request is answered once, by a device that may answer, for exactly what it
showed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairlead.server.policy import Policy
from fairlead.server.protocol.intents import (
    AnswerElicitation,
    AnswerQuestions,
    DecidePlan,
    Interrupt,
    Stop,
)
from fairlead.server.protocol.messages import LOBBY
from fairlead.server.view.session_view import input_sha256
from tests.server.server_harness import ServerHarness, device
from tests.server.session.asking import APPROVER, OPERATOR, RULE, WAIT, answer, ask, asked, decide

OWNER = device("owner", "desk")

WHOLE_TOOL = {
    "type": "addRules",
    "rules": [{"toolName": "Bash"}],
    "behavior": "allow",
    "destination": "session",
}
ACCEPT_EDITS = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
BYPASS = {"type": "setMode", "mode": "bypassPermissions", "destination": "session"}
UNKNOWN = {"type": "brandNew", "x": 1}
DENY_RULE = {**RULE, "behavior": "deny"}
REMOVE_RULE = {**RULE, "type": "removeRules", "behavior": "deny"}


async def test_an_allow_runs_the_request_and_all_clients_see_who_allowed_it(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        assert list(harness.lobby("inbox")) == [f"{session}:ask-1"]
        assert harness.lobby("sessions")[session]["pending"] == 1
        hub_client = await harness.hub_client(session)
        assert hub_client.state is not None
        assert hub_client.state["pending"] == [row]
        result = await harness.act(decide(session, row), APPROVER)
        assert (result.ok, result.result) == (True, {"decision": "allow"})
        assert (await answer(harness))["updatedInput"] == {"command": "make", "n": 1}
        live = await harness.state(session, "idle")
        (settled,) = live.transcript.settled
        assert (settled.outcome, settled.by) == ("answered", "phone")
        assert harness.lobby("inbox") == {}
        (record,) = await harness.store.audit(session)
        assert (record.action, record.device) == ("decided:allow", APPROVER.id)


@pytest.mark.parametrize("seen", ["", "0" * 64, input_sha256({"command": "ls"})])
async def test_a_decision_about_another_input_is_stale(tmp_path: Path, seen: str) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        result = await harness.act(decide(session, {**row, "input_sha256": seen}), OWNER)
        assert result.code == "stale"
        assert harness.answers() == {}
        assert (await harness.act(decide(session, row))).ok


async def test_two_requests_with_one_tool_use_id_are_bound_to_their_own_input(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask("a", tool_use_id="t"), WAIT)
        (first,) = await harness.pending(session)
        evil = ask("b", tool_use_id="t", input={"command": "rm -rf /"})
        await harness.act(decide(session, first, "deny"))
        await harness.until(lambda: "a" in harness.answers())
        await harness.say(session, evil, WAIT)
        (second,) = await harness.pending(session)
        assert second["input_sha256"] != first["input_sha256"]
        crossed = await harness.act(decide(session, {**first, "id": "b"}))
        assert crossed.code == "stale"


async def test_the_first_valid_answer_wins_and_the_others_learn_whose_it_was(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        assert (await harness.act(decide(session, row, "deny", message="no"), OPERATOR)).ok
        late = await harness.act(decide(session, row), APPROVER)
        assert (late.code, late.result) == (
            "already_resolved",
            {"by": "laptop", "decision": "deny"},
        )
        assert (await answer(harness))["message"] == "no"


async def test_a_request_that_the_cli_withdrew_cannot_be_answered(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask(), {"withdraw": "ask-1"}, ask("ask-2"), WAIT)
        live = await harness.registry.sessions.load(session)
        await harness.until(lambda: live.transcript.settled)
        row = {"id": "ask-1", "input_sha256": input_sha256({"command": "make", "n": 1})}
        result = await harness.act(decide(session, row))
        assert (result.code, result.result["decision"]) == ("already_resolved", "cancelled")
        assert "ask-1" not in harness.answers()


async def test_a_request_id_that_comes_again_is_denied_unseen(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        assert (await harness.act(decide(session, row))).ok
        await harness.state(session, "idle")
        await harness.say(session, ask(input={"command": "something else"}), WAIT)
        await harness.until(lambda: len(harness.told("control_response")) == 2)
        second = harness.told("control_response")[1]["response"]["response"]
        assert second["behavior"] == "deny"


async def test_only_an_operator_may_change_what_runs_and_it_is_on_the_record(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        edited = decide(session, row, "allow_edited", input={"command": "make -n"})
        assert (await harness.act(edited, APPROVER)).code == "forbidden"
        assert harness.answers() == {}
        assert (await harness.act(edited, OPERATOR)).ok
        assert (await answer(harness))["updatedInput"] == {"command": "make -n"}
        (record,) = await harness.store.audit(session)
        assert record.details["asked"] == {"command": "make", "n": 1}
        assert record.details["ran"] == {"command": "make -n"}


async def test_an_input_travels_with_no_other_decision(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        result = await harness.act(decide(session, row, "allow", input={"command": "evil"}), OWNER)
        assert result.code == "bad_message"
        assert harness.answers() == {}


async def test_choices_are_the_safe_suggestions_each_in_its_scopes(tmp_path: Path) -> None:
    suggestions = [BYPASS, UNKNOWN, DENY_RULE, REMOVE_RULE, RULE, ACCEPT_EDITS, WHOLE_TOOL]
    async with ServerHarness(tmp_path) as harness:
        _, row = await asked(harness, suggestions=suggestions)
        assert [(entry["scope"], entry["role"], entry["wide"]) for entry in row["choices"]] == [
            ("session", "approver", False),
            ("session", "approver", False),
            ("localSettings", "owner", False),
            ("session", "approver", True),
            ("session", "approver", True),
        ]
        assert [entry["label"] for entry in row["choices"]] == [
            "Bash(make) (this session)",
            "Bash(make:*) (this session)",
            "Bash(make:*) (this project, only for you)",
            "any use of Bash (this session)",
            "mode acceptEdits (this session)",
        ]
        assert [entry["deniable"] for entry in row["choices"]] == [True, True, True, True, False]
        assert row["choices"][1]["lets_through"] == "Any command starting with `make`"


async def test_P75_a_choice_says_why_the_cli_may_ask_again(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        unclear = {"command": "rm -rf $X/"}
        _, row = await asked(harness, input=unclear, suggestions=[WHOLE_TOOL])
        (whole,) = row["choices"]
        assert whole["may_ask"] == "it removes files that are known only when it runs"


async def test_P75_a_choice_that_covers_the_call_does_not_say_may_ask(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        _, row = await asked(harness, suggestions=[RULE, WHOLE_TOOL])
        assert [choice["may_ask"] for choice in row["choices"]] == ["", "", "", ""]


async def test_a_choice_names_calls_of_this_session_that_it_would_have_let_through(
    tmp_path: Path,
) -> None:
    calls = [
        {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        for number, command in enumerate(("make test", "ls", "make clean"))
    ]
    reply = {"id": "m", "role": "assistant", "model": "big", "content": calls}
    line = {"type": "assistant", "message": reply, "parent_tool_use_id": None}
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, {"line": line}, ask(suggestions=[RULE]), WAIT)
        (row,) = await harness.pending(session)
    narrow, wider, *_ = row["choices"]
    assert (narrow["label"], narrow["examples"]) == ("Bash(make) (this session)", [])
    assert wider["label"] == "Bash(make:*) (this session)"
    assert sorted(wider["examples"]) == ["make clean", "make test"]


async def test_always_takes_the_chosen_rule_and_no_more(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[RULE, ACCEPT_EDITS])
        assert (await harness.act(decide(session, row, "always", choices=(1,)), APPROVER)).ok
        assert (await answer(harness))["updatedPermissions"] == [{**RULE, "destination": "session"}]


@pytest.mark.parametrize(
    ("choices", "who", "code"),
    [
        pytest.param((2,), OPERATOR, "forbidden", id="a settings file by an operator"),
        pytest.param((7,), OWNER, "bad_message", id="nothing offered"),
        pytest.param((-1,), OWNER, "bad_message", id="from the end"),
        pytest.param((), OWNER, "bad_message", id="no choice"),
    ],
)
async def test_a_lasting_rule_comes_only_from_what_was_offered(
    tmp_path: Path, choices: tuple[int, ...], who: Any, code: str
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[RULE])
        result = await harness.act(decide(session, row, "always", choices=choices), who)
        assert result.code == code
        assert harness.answers() == {}


async def test_an_owner_may_write_to_a_settings_file_unless_the_server_forbids_it(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[RULE])
        assert (await harness.act(decide(session, row, "always", choices=(2,)), OWNER)).ok
        assert (await answer(harness))["updatedPermissions"] == [RULE]
    policy = Policy(roots=(tmp_path,), wide_scopes=False)
    async with ServerHarness(tmp_path, policy=policy) as harness:
        _, row = await asked(harness, suggestions=[RULE])
        assert {entry["scope"] for entry in row["choices"]} == {"session"}


async def test_a_denial_can_end_the_turn(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        assert (await harness.act(decide(session, row, "deny_stop"), APPROVER)).ok
        reply = await answer(harness)
        assert (reply["behavior"], reply["interrupt"]) == ("deny", True)
        assert reply["message"]


async def test_questions_are_answered_by_their_text(tmp_path: Path) -> None:
    question = {"question": "Which?", "header": "h", "options": [{"label": "A"}, {"label": "B"}]}
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, tool="AskUserQuestion", input={"questions": [question]})
        assert row["kind"] == "question"
        plain = await harness.act(decide(session, row, "allow"))
        assert plain.code == "bad_message"
        common = {"session": session, "request_id": "ask-1", "input_sha256": row["input_sha256"]}
        other = await harness.act(AnswerQuestions(**common, answers={"What?": "A"}))
        assert other.code == "bad_message"
        assert (await harness.act(AnswerQuestions(**common, answers={"Which?": ("A", "B")}))).ok
        assert (await answer(harness))["updatedInput"]["answers"] == {"Which?": "A, B"}


async def test_a_plan_is_shown_and_can_be_approved_with_edits_within_the_ceiling(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, tool="ExitPlanMode", input={})
        live = harness.live(session)
        await harness.until(lambda: live.transcript.pending[0].details.get("plan") == "1. do it")
        common = {"session": session, "request_id": "ask-1", "input_sha256": row["input_sha256"]}
        assert (await harness.act(DecidePlan(**common, approve=True, accept_edits=True))).ok
        (update,) = (await answer(harness))["updatedPermissions"]
        assert update["mode"] == "acceptEdits"
    strict = Policy(roots=(tmp_path,), mode_ceiling="default")
    async with ServerHarness(tmp_path, policy=strict) as harness:
        harness.log.unlink()
        session, row = await asked(harness, tool="ExitPlanMode", input={"plan": "x"})
        common = {"session": session, "request_id": "ask-1", "input_sha256": row["input_sha256"]}
        result = await harness.act(DecidePlan(**common, approve=True, accept_edits=True))
        assert result.code == "forbidden"
        assert (await harness.act(DecidePlan(**common, approve=False, message="other"))).ok
        assert (await answer(harness))["message"] == "other"


async def test_a_form_of_an_mcp_server_is_answered(tmp_path: Path) -> None:
    form = {
        "type": "control_request",
        "request_id": "form",
        "request": {"subtype": "elicitation", "mcp_server_name": "m", "message": "Name?"},
    }
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, {"line": form}, WAIT)
        (row,) = await harness.pending(session)
        assert row["kind"] == "elicitation"
        common = {"session": session, "request_id": "form", "input_sha256": row["input_sha256"]}
        wrong = AnswerElicitation(**common, action="maybe")
        assert (await harness.act(wrong)).code == "bad_message"
        right = AnswerElicitation(**common, action="accept", content={"name": "x"})
        assert (await harness.act(right)).ok
        assert await answer(harness, "form") == {"action": "accept", "content": {"name": "x"}}


async def test_ten_requests_are_answered_in_any_order(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        asks = [ask(f"ask-{n}", input={"command": f"c{n}"}, tool_use_id=f"t{n}") for n in range(10)]
        await harness.say(session, *asks, {"wait": 10})
        rows = await harness.pending(session, 10)
        for row in reversed(rows):
            assert (await harness.act(decide(session, row))).ok
        await harness.state(session, "idle")
        for n in range(10):
            assert harness.answers()[f"ask-{n}"]["updatedInput"] == {"command": f"c{n}"}


async def test_an_interrupt_ends_a_request_for_all_clients(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        hub_client = await harness.hub_client(LOBBY)
        await harness.act(Interrupt(session=session), APPROVER)
        await harness.state(session, "idle")
        result = await harness.act(decide(session, row))
        hub_client.drain(1e9)
        assert hub_client.state is not None
        assert hub_client.state["inbox"] == []
        assert result.code in ("already_resolved", "not_found")


@pytest.mark.parametrize("stop", [Interrupt, Stop])
async def test_clients_with_an_open_request_see_who_stopped_it(tmp_path: Path, stop: Any) -> None:
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness)
        assert (await harness.act(stop(session=session), OPERATOR)).ok
        live = await harness.state(session, "idle", "ended")
        (settled,) = live.transcript.settled
        assert (settled.id, settled.stopped_by, settled.by) == (row["id"], "laptop", None)


def test_the_hash_does_not_depend_on_the_order_of_keys() -> None:
    assert input_sha256({"b": 1, "a": "ä"}) == input_sha256({"a": "ä", "b": 1})
    assert input_sha256({"a": 1}) != input_sha256({"a": "1"})
    assert input_sha256({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("decision", ["always", "deny_always"])
async def test_B51_a_request_for_this_once_takes_no_lasting_answer(
    tmp_path: Path, decision: str
) -> None:
    more = {"suppress_always_allow_rule": True, "default_to_no": True}
    async with ServerHarness(tmp_path) as harness:
        session, row = await asked(harness, suggestions=[RULE], more=more)
        assert row["choices"] == []
        assert (row["suppress_always_allow_rule"], row["default_to_no"]) == (True, True)
        refused = await harness.act(decide(session, row, decision, choices=(0,)))
        assert refused.code == "forbidden"
        assert refused.message is not None
        assert "deny it once" in refused.message
        assert (await harness.act(decide(session, row, "allow"))).ok


async def test_B51_a_plan_for_this_once_does_not_also_accept_edits(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        more = {"suppress_always_allow_rule": True}
        session, row = await asked(harness, tool="ExitPlanMode", input={"plan": "x"}, more=more)
        plan = DecidePlan(
            session=session,
            request_id=row["id"],
            input_sha256=row["input_sha256"],
            approve=True,
            accept_edits=True,
        )
        assert (await harness.act(plan)).code == "forbidden"
        plain = DecidePlan(
            session=session, request_id=row["id"], input_sha256=row["input_sha256"], approve=True
        )
        assert (await harness.act(plain)).ok
