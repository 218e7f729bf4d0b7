"""Attacks on an approval: shown is not run, two answers, an edit too many, a grant smuggled in."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from fairlead.errors import OptionError
from fairlead.permissions.audit import input_sha256
from fairlead.server.policy import MODES, Policy
from fairlead.server.protocol.intents import Decide, NewSession, Restart, SetMode
from fairlead.server.protocol.messages import FromClient, IntentResult
from tests.server.conftest import Served
from tests.server.server_harness import ServerHarness, device
from tests.waiting import until

ROLES = ("viewer", "approver", "operator", "owner")
WAIT = {"wait": 1}


def ask(request: str = "ask-1", **fields: Any) -> dict[str, Any]:
    return {"ask": {"id": request, "input": {"command": "make"}, **fields}}


def decide(session: str, row: dict[str, Any], decision: str = "allow", **fields: Any) -> Decide:
    return Decide(
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision=decision,
        **fields,
    )


# T-14

SHOWN: dict[str, Any] = {
    "big numbers": {"n": 2**63, "m": -(2**70), "f": 1e300, "small": 5e-324},
    "fractions": {"a": 0.1, "b": 1.0, "c": -0.0, "d": 100000000000000000000.0},
    "nested": {"a": [{"b": [None, True, {"c": "d"}]}], "z": {}},
    "odd texts": {"command": "a\u202eb\u0000c\ud7ff\u2028\n\t\\\"'"},
    "odd names": {"": 1, " ": 2, "\u202e": 3, "command ": "rm", "command": "ls"},
    "another description": {"command": "rm -rf ~", "description": "List the files"},
    "long": {"command": "true" + " " * 200_000 + "; rm -rf ~"},
    "order": {"z": 1, "a": 2, "m": 3},
}


@pytest.mark.parametrize("name", SHOWN)
async def test_R11_what_runs_hashes_to_what_was_shown(tmp_path: Path, name: str) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask(input=SHOWN[name]), WAIT)
        (row,) = await harness.pending(session)
        assert row["input_sha256"] == input_sha256(SHOWN[name])
        assert (await harness.act(decide(session, row))).ok
        await harness.until(lambda: "ask-1" in harness.answers())
        ran = harness.answers()["ask-1"]["updatedInput"]
        assert input_sha256(ran) == row["input_sha256"]
        assert json.dumps(ran, sort_keys=True) == json.dumps(SHOWN[name], sort_keys=True)


TWICE = '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{"command":"ls","command":"rm -rf ~"}}}'


async def test_R11_of_two_keys_with_one_name_the_one_that_runs_is_shown(tmp_path: Path) -> None:
    odd = tmp_path / "line.txt"
    odd.write_text(TWICE)
    agent = tmp_path / "claude-twice"
    inner = Path(__file__).parents[1] / "agent.py"
    # The line comes when the first prompt does: after the handshake.
    agent.write_text(
        "#!/usr/bin/env python3\n"
        "import subprocess, sys\n"
        f"child = subprocess.Popen([{'python3'!r}, {str(inner)!r}, {str(tmp_path / 'agent.log')!r},"
        " *sys.argv[1:]], stdin=subprocess.PIPE)\n"
        "for line in sys.stdin:\n"
        "    child.stdin.write(line.encode()); child.stdin.flush()\n"
        "    if '\"type\":\"user\"' in line.replace(' ', ''):\n"
        f"        sys.stdout.write({TWICE!r} + chr(10)); sys.stdout.flush()\n"
        "child.stdin.close(); child.wait()\n"
    )
    agent.chmod(0o755)
    async with ServerHarness(tmp_path, agent=agent) as harness:
        session = await harness.new()
        await harness.say(session, {"wait": 1})
        (row,) = await harness.pending(session)
        shown = row["input"]
        assert (await harness.act(decide(session, row))).ok
        await harness.until(lambda: "r" in harness.answers())
        assert harness.answers()["r"]["updatedInput"] == shown


async def test_R11_an_answer_for_one_request_is_none_for_another(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        evil = ask("b", input={"command": "rm -rf ~"})
        await harness.say(session, ask("a"), evil, {"wait": 2})
        first, second = await harness.pending(session, 2)
        for forged in (
            {**first, "id": second["id"]},
            {**second, "id": first["id"]},
            {**second, "input_sha256": second["input_sha256"].upper()},
            {**second, "input_sha256": second["input_sha256"][:32]},
            {**second, "input_sha256": ""},
        ):
            assert (await harness.act(decide(session, forged))).code == "stale"
        assert harness.answers() == {}
        assert (await harness.act(decide(session, first))).ok
        again = await harness.act(decide(session, first))
        assert again.code == "already_resolved"
        assert (await harness.act(decide(session, second, "deny"))).ok
        await harness.state(session, "idle")
        assert len(harness.told("control_response")) == 2


async def test_R11_a_call_that_is_asked_about_twice_is_answered_twice_each_as_it_was_seen(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        evil = ask("b", tool_use_id="same", input={"command": "rm -rf ~"})
        await harness.say(session, ask("a", tool_use_id="same"), evil, {"wait": 2})
        first, second = await harness.pending(session, 2)
        crossed = await harness.act(decide(session, {**first, "id": second["id"]}))
        assert crossed.code == "stale"
        assert (await harness.act(decide(session, first))).ok
        assert (await harness.act(decide(session, second, "deny"))).ok
        await harness.state(session, "idle")
        received = harness.answers()
        assert (received["a"]["behavior"], received["b"]["behavior"]) == ("allow", "deny")
        assert received["a"]["updatedInput"] == {"command": "make"}


# T-19


async def test_R11_of_many_pairs_of_answers_each_request_gets_exactly_one(tmp_path: Path) -> None:
    pairs, rounds = 50, 6
    rng = random.Random(19)
    phone, laptop = device("approver", "phone"), device("operator", "laptop")
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        for number in range(rounds):
            asks = [ask(f"{number}-{n}", tool_use_id=f"{number}-{n}") for n in range(pairs)]
            await harness.say(session, *asks, {"wait": pairs})
            rows = await harness.pending(session, pairs)
            rng.shuffle(rows)

            async def race(row: dict[str, Any]) -> list[IntentResult]:
                both = [(decide(session, row), phone), (decide(session, row, "deny"), laptop)]
                rng.shuffle(both)
                return list(await asyncio.gather(*(harness.act(one, who) for one, who in both)))

            results = await asyncio.gather(*(race(row) for row in rows))
            await harness.until(lambda: not harness.live(session).transcript.pending)
            await harness.state(session, "idle")
            for one, other in results:
                assert sorted((one.ok, other.ok)) == [False, True]
                loser, winner = (other, one) if one.ok else (one, other)
                assert loser.code == "already_resolved"
                assert loser.result["decision"] == winner.result["decision"]
                assert loser.result["by"] in ("phone", "laptop")
        assert len(harness.told("control_response")) == len(harness.answers()) == pairs * rounds


# T-20


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("decision", ["allow", "allow_edited", "always", "deny_always", "deny"])
async def test_R8_who_may_decide_what(tmp_path: Path, role: str, decision: str) -> None:
    suggestion = {
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "make:*"}],
        "behavior": "allow", "destination": "localSettings",
    }  # fmt: skip
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask(suggestions=[suggestion]), WAIT)
        (row,) = await harness.pending(session)
        more: dict[str, Any] = {}
        if decision == "allow_edited":
            more["input"] = {"command": "make -n"}
        if decision in ("always", "deny_always"):
            more["choices"] = (0,)
        result = await harness.act(decide(session, row, decision, **more), device(role, role))
        needed = "operator" if decision == "allow_edited" else "approver"
        assert result.ok is (ROLES.index(role) >= ROLES.index(needed))
        if not result.ok:
            assert result.code == "forbidden"
            assert harness.answers() == {}


async def test_R11_an_edit_is_recorded_with_the_original_request(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask(), WAIT)
        (row,) = await harness.pending(session)
        edited = decide(session, row, "allow_edited", input={"command": "make -n"})
        assert (await harness.act(edited, device("operator", "laptop"))).ok
        (record,) = await harness.store.audit(session)
        assert record.details["asked"] == {"command": "make"}
        assert record.details["ran"] == {"command": "make -n"}
        assert record.details["by"] == "laptop"


# T-21

SMUGGLED: list[dict[str, Any]] = [
    {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
    {"type": "setMode", "mode": "bypassPermissions", "destination": "userSettings"},
    {"type": "setMode", "mode": "auto", "destination": "session"},
    {"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"},
    {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow",
     "destination": "userSettings"},
    {"type": "addRules", "rules": [{"toolName": "*"}], "behavior": "allow",
     "destination": "session"},
    {"type": "replaceRules", "rules": [], "behavior": "deny", "destination": "userSettings"},
    {"type": "removeRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}],
     "behavior": "deny", "destination": "session"},
    {"type": "addDirectories", "directories": ["/"], "destination": "userSettings"},
    {"type": "removeDirectories", "directories": ["/"], "destination": "session"},
    {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "x"}],
     "behavior": "allow", "destination": "policySettings"},
    {"type": "anything", "destination": "session"},
    {},
]  # fmt: skip


async def test_R10_no_suggestion_of_the_cli_can_carry_more_than_was_offered(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, ask(suggestions=SMUGGLED), WAIT)
        (row,) = await harness.pending(session)
        for choice in row["choices"]:
            assert "bypass" not in choice["label"]
            assert "mode auto" not in choice["label"]
            assert choice["role"] == ("approver" if choice["scope"] == "session" else "owner")
            assert choice["wide"] is True or "(make" in choice["label"]
        beyond = [choice["index"] for choice in row["choices"] if choice["scope"] != "session"]
        for index in beyond:
            for role in ("approver", "operator"):
                always = decide(session, row, "always", choices=(index,))
                assert (await harness.act(always, device(role, role))).code == "forbidden"
        assert harness.answers() == {}
        for index in (len(row["choices"]), -1, 10**9):
            outside = decide(session, row, "always", choices=(index,))
            assert (await harness.act(outside)).code == "bad_message"


# T-28, R9, R10

SUBTYPES = (
    "initialize", "interrupt", "can_use_tool", "set_permission_mode", "set_model",
    "set_max_thinking_tokens", "mcp_status", "mcp_message", "mcp_set_servers", "mcp_reconnect",
    "mcp_toggle", "rewind_files", "hook_callback", "apply_flag_settings", "get_settings",
    "elicitation", "stop_task", "set_cwd", "update_settings", "mcp_call", "register_repo_root",
    "get_plan", "end_session", "control",
)  # fmt: skip


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("subtype", SUBTYPES)
async def test_R9_no_control_request_passes_as_it_is(served: Served, subtype: str) -> None:
    client = await served.client()
    session = await client.new_session()
    log = served.project.parent / "agent.log"
    await until(lambda: log.exists() and "initialize" in log.read_text())
    request = {"subtype": subtype, "mode": "bypassPermissions", "servers": {"x": {"command": "x"}}}
    raw: list[dict[str, Any]] = [
        {"type": "control_request", "request_id": "r", "request": request},
        {"type": "control_response", "response": {"subtype": "success", "request_id": "r"}},
        {"type": "intent", "n": 800, "intent": {"kind": "control_request", "request": request}},
        {"type": "intent", "n": 801, "intent": {"kind": "send", "session": session,
                                                "request": request}},
        {"type": "user", "message": {"role": "user", "content": "x"}},
    ]  # fmt: skip
    for message in raw:
        await client.say(**message)
        assert (await client.hear("error"))["code"] in ("bad_message", "unsupported_message")
    received = [json.loads(line) for line in log.read_text().splitlines()]
    assert [
        each["request"]["subtype"] for each in received if each.get("type") == "control_request"
    ] == ["initialize"]
    assert [each for each in received if each.get("type") in ("user", "control_response")] == []


def test_R9_what_a_client_can_ask_for_is_a_closed_list() -> None:
    kinds = sorted(each.__struct_config__.tag for each in FromClient.__args__)
    about_terminals = ["ack", "attach", "detach", "input", "list", "size"]  # Owners only (R28).
    assert kinds == [
        "ack", "close", "fetch", "greet", "hello", "intent", "look", "open", "release",
        *(f"terminal_{kind}" for kind in about_terminals),
    ]  # fmt: skip


async def test_R10_permissions_are_switched_off_by_no_client_whatever_its_role(
    tmp_path: Path,
) -> None:
    policy = Policy(roots=(tmp_path,), mode_ceiling=MODES[-1])
    async with ServerHarness(tmp_path, policy=policy) as harness:
        session = await harness.new()
        await harness.state(session, "ready", "idle")
        for mode in ("bypassPermissions", "BypassPermissions", "bypass", "delegate", "", "-p"):
            result = await harness.act(SetMode(session=session, mode=mode))
            assert result.code in ("forbidden", "bad_message"), mode
            new = await harness.act(NewSession(cwd=str(harness.project), mode=mode))
            assert new.code in ("forbidden", "bad_message"), mode
        assert (await harness.act(Restart(session=session))).ok
        for start in harness.told("argv"):
            assert not [each for each in start["argv"] if "bypass" in each or "dangerously" in each]


def test_R10_the_command_has_no_ceiling_that_switches_permissions_off() -> None:
    assert "bypassPermissions" not in MODES
    with pytest.raises((OptionError, Exception), match="disable permission checks"):
        Policy().check_mode("bypassPermissions")
