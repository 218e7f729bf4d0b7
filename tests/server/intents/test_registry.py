"""Intents of clients: each acts once, and all clients see the same result."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.protocol import intents
from fairlead.server.protocol.intents import (
    Archive,
    CancelPrompt,
    EditPrompt,
    Interrupt,
    KeepDraft,
    NewSession,
    Pin,
    Rename,
    ReorderPrompts,
    Restart,
    RevokeDevice,
    Send,
    SendNow,
    SetMode,
    SetModel,
    Stop,
)
from fairlead.server.protocol.messages import LOBBY, FromClient
from fairlead.store.tables.devices import Device
from fairlead.transcript.state.model import PromptItem, TextItem
from tests.server.server_harness import ServerHarness, device
from tests.waiting import until

ASK = {"ask": {"id": "ask-1", "input": {"command": "make"}}}
WAIT = {"wait": 1}


async def test_a_new_session_runs_its_prompt_and_is_listed(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="hello there", mode="plan", title="  My \n work ")
        live = await harness.state(session, "idle")
        assert harness.prompts() == ["hello there"]
        assert [type(item) for item in live.transcript.items] == [PromptItem, TextItem]
        row = harness.lobby("sessions")[session]
        assert row["title"] == "My work"
        assert row["cwd"] == str(harness.project)
        assert row["live"] is True
        assert row["status"]["state"] == "idle"
        (start,) = harness.told("argv")
        assert "--permission-mode=plan" in start["argv"]
        assert start["cwd"] == str(harness.project)


async def test_B61_a_session_that_falls_silent_is_listed_with_its_last_sentence(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        steps = [{"drip": [4, 0.4]}, {"wait": 1}]
        session = await harness.new(prompt=json.dumps(steps))
        words = "word0 word1 word2 word3"
        await until(lambda: harness.lobby("sessions")[session]["last_sentence"] == words)


async def test_an_intent_that_comes_again_acts_once_and_gives_the_same_result(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.state(session, "ready", "idle", "starting")
        intent = Send(session=session, text="once", uuid=str(uuid.uuid4()))
        act = harness.registry.act
        results = await asyncio.gather(*(act(harness.owner, "c", 1, intent) for _ in range(20)))
        later = await act(harness.owner, "c", 1, intent)
        await harness.state(session, "idle")
        assert {msgspec.json.encode(result) for result in [*results, later]} == {
            msgspec.json.encode(results[0])
        }
        assert results[0].ok
        assert harness.prompts() == ["once"]
        assert await harness.registry.last_intent(harness.owner, "c") == 1


async def test_a_resend_after_a_restart_of_the_server_acts_once(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        intent = NewSession(cwd=str(harness.project), prompt="begin")
        first = await harness.registry.act(harness.owner, "c", 1, intent)
        await harness.state(first.result["session"], "idle")
    async with ServerHarness(tmp_path) as harness:
        again = await harness.registry.act(harness.owner, "c", 1, intent)
        assert again == first
        assert harness.prompts() == ["begin"]
        assert len(harness.lobby("sessions")) == 1


async def test_a_refusal_is_an_answer_and_stays_the_same(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        intent = Stop(session="nothing")
        first = await harness.registry.act(harness.owner, "c", 1, intent)
        assert (first.ok, first.code) == (False, "not_found")
        assert await harness.registry.act(harness.owner, "c", 1, intent) == first


async def test_an_intent_goes_on_when_its_socket_is_gone(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        intent = Send(session=session, text="still there", uuid=str(uuid.uuid4()))
        waiting = asyncio.create_task(harness.registry.act(harness.owner, "c", 1, intent))
        await asyncio.sleep(0)
        waiting.cancel()
        await harness.state(session, "idle")
        assert harness.prompts() == ["still there"]
        assert (await harness.registry.act(harness.owner, "c", 1, intent)).ok


# Roles


ROLES = ("viewer", "approver", "operator", "owner")


def sample(kind: Any) -> Any:
    """Some intent of a kind, about a session that does not exist."""
    values = {"str": "x", "bool": True, "tuple[str, ...]": (), "dict[str, Any] | None": None}
    fields = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            name = str(kind.__annotations__[field.name])
            fields[field.name] = values.get(name)
    return kind(**fields)


NAMES_NOTHING = (intents.ContinueAtResetByDefault,)
"""Samples that succeed, because they name no session and no device."""


@pytest.mark.parametrize("kind", get_args(intents.Intent), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_do_what_it_may_and_nothing_else(
    tmp_path: Path, kind: Any, role: str
) -> None:
    async with ServerHarness(tmp_path) as harness:
        result = await harness.act(sample(kind), device(role, role))
        allowed = ROLES.index(role) >= ROLES.index(kind.role)
        assert not result.ok or kind in NAMES_NOTHING
        assert (result.code != "forbidden") is allowed
        assert result.code != "internal"
        assert not harness.told()


async def test_an_unknown_role_may_do_nothing(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        result = await harness.act(KeepDraft(session="x", text=""), device("emperor", "x"))
        assert result.code == "forbidden"


RAW = ("initialize", "mcp_set_servers", "mcp_message", "set_cwd", "update_settings", "mcp_call",
       "hook_callback", "apply_flag_settings", "can_use_tool", "register_repo_root", "control")  # fmt: skip


@pytest.mark.parametrize("subtype", RAW)
def test_no_raw_control_request_can_even_be_written_down(subtype: str) -> None:
    message = {"type": "intent", "n": 1, "intent": {"kind": subtype, "session": "x"}}
    with pytest.raises(msgspec.ValidationError, match="Invalid value"):
        msgspec.json.decode(json.dumps(message), type=FromClient)


@pytest.mark.parametrize("extra", ["updated_input", "destination", "suggestions", "rememberEntry"])
def test_a_decision_with_a_field_more_is_refused(extra: str) -> None:
    intent = {"kind": "decide", "session": "x", "request_id": "r", "input_sha256": "h"}
    message = {"type": "intent", "n": 1, "intent": {**intent, "decision": "allow", extra: {}}}
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(json.dumps(message), type=FromClient)


# Prompts


async def busy_session(harness: ServerHarness) -> str:
    session = await harness.new()
    await harness.say(session, ASK, WAIT)
    await harness.pending(session)
    return session


def held(harness: ServerHarness, session: str) -> list[str]:
    items = harness.live(session).transcript.items
    return [item.text for item in items if isinstance(item, PromptItem) and item.state == "held"]


async def test_prompts_wait_while_a_turn_runs_and_can_be_changed_until_they_go(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await busy_session(harness)
        hub_client = await harness.hub_client(session)
        uuids = [await harness.say(session, text=text) for text in ("one", "two", "three", "four")]
        assert held(harness, session) == ["one", "two", "three", "four"]
        assert (await harness.act(EditPrompt(session=session, uuid=uuids[1], text="TWO"))).ok
        order = (uuids[3], uuids[1], uuids[0], uuids[2])
        assert (await harness.act(ReorderPrompts(session=session, uuids=order))).ok
        assert (await harness.act(CancelPrompt(session=session, uuid=uuids[0]))).ok
        assert held(harness, session) == ["four", "TWO", "three"]
        assert len(harness.prompts()) == 1
        assert (await harness.act(Interrupt(session=session))).ok
        # Between two turns it is idle as well: it is over when the last of them has ended.
        turns = harness.live(session).transcript
        await harness.until(lambda: [turn.outcome for turn in turns.turns].count("success") == 3)
        assert harness.prompts()[1:] == ["four", "TWO", "three"]
        late = await harness.act(EditPrompt(session=session, uuid=uuids[1], text="too late"))
        assert (late.ok, late.code) == (False, "stale")
        hub_client.drain(1e9)
        assert hub_client.state is not None
        states = {
            item["text"]: item["state"]
            for item in hub_client.state["items"]
            if item["kind"] == "prompt"
        }
        assert states["one"] == "cancelled"
        assert states["TWO"] == "started"


async def test_a_waiting_prompt_can_be_sent_into_the_running_turn(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await busy_session(harness)
        await harness.say(session, text="first in line")
        urgent = await harness.say(session, text="urgent")
        assert (await harness.act(SendNow(session=session, uuid=urgent))).ok
        await harness.until(lambda: len(harness.prompts()) == 2)
        assert harness.prompts()[1] == "urgent"
        assert held(harness, session) == ["first in line"]
        again = await harness.act(SendNow(session=session, uuid=urgent))
        assert again.code == "stale"


async def test_an_interrupt_can_take_the_queue_with_it(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await busy_session(harness)
        await harness.say(session, text="never")
        assert (await harness.act(Interrupt(session=session, cancel_queued=True))).ok
        live = await harness.state(session, "idle")
        await live.journal.flush()
        assert held(harness, session) == []
        assert len(harness.prompts()) == 1


async def test_an_order_that_names_other_prompts_is_refused_with_what_waits(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await busy_session(harness)
        waiting = await harness.say(session, text="one")
        result = await harness.act(ReorderPrompts(session=session, uuids=("x", waiting)))
        assert (result.code, result.result) == ("conflict", {"waiting": [waiting]})


async def test_a_prompt_uuid_is_taken_once(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await busy_session(harness)
        prompt = await harness.say(session, text="one")
        again = await harness.act(Send(session=session, text="two", uuid=prompt))
        assert again.code == "conflict"


@pytest.mark.parametrize(
    ("text", "uuid_of_prompt", "code"),
    [
        pytest.param("x" * 2_000, str(uuid.uuid4()), "too_large", id="too long"),
        pytest.param("", str(uuid.uuid4()), "bad_message", id="empty"),
        pytest.param("x", "not-a-uuid", "bad_message", id="no uuid"),
    ],
)
async def test_a_prompt_that_cannot_be_sent_is_refused(
    tmp_path: Path, text: str, uuid_of_prompt: str, code: str
) -> None:
    async with ServerHarness(tmp_path, limits=Limits(prompt_bytes=1_000)) as harness:
        session = await harness.new()
        result = await harness.act(Send(session=session, text=text, uuid=uuid_of_prompt))
        assert result.code == code
        assert harness.prompts() == []


async def test_the_queue_is_bounded(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=Limits(prompts_held=2)) as harness:
        session = await busy_session(harness)
        for text in ("one", "two"):
            await harness.say(session, text=text)
        result = await harness.act(Send(session=session, text="three", uuid=str(uuid.uuid4())))
        assert result.code == "too_many"


# Sessions


async def test_a_session_can_be_named_pinned_archived_and_drafted(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.state(session, "ready")
        hub_client = await harness.hub_client(LOBBY)
        for intent in (
            Rename(session=session, title="name"),
            Pin(session=session, pinned=True),
            KeepDraft(session=session, text="half a thought"),
            Archive(session=session, archived=True),
        ):
            assert (await harness.act(intent)).ok
        hub_client.drain(1e9)
        assert hub_client.state is not None
        (row,) = hub_client.state["sessions"]
        assert (row["title"], row["pinned"], row["archived"]) == ("name", True, True)
        assert [draft["device"] for draft in row["drafts"]] == [harness.owner.id]
        assert row["live"] is False
        draft = await harness.store.draft(session, harness.owner.id)
        assert draft is not None
        assert draft.text == "half a thought"


@pytest.mark.parametrize(
    ("folder", "code"),
    [
        pytest.param("nothing-here", "not_found", id="missing"),
        pytest.param("..", "forbidden", id="above the root"),
        pytest.param("../evil", "forbidden", id="beside the root"),
        pytest.param("link", "forbidden", id="a link out"),
        pytest.param("file", "not_found", id="a file"),
    ],
)
async def test_a_session_works_only_below_the_roots(tmp_path: Path, folder: str, code: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "evil").mkdir()
    (root / "file").write_text("")
    (root / "link").symlink_to(tmp_path / "evil")
    async with ServerHarness(tmp_path, policy=Policy(roots=(root,))) as harness:
        result = await harness.act(NewSession(cwd=f"{root}/{folder}"))
        assert result.code == code
        assert not harness.told()


async def test_a_sibling_folder_with_the_same_beginning_is_not_below_the_root(
    tmp_path: Path,
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root-evil").mkdir()
    async with ServerHarness(tmp_path, policy=Policy(roots=(tmp_path / "root",))) as harness:
        result = await harness.act(NewSession(cwd=str(tmp_path / "root-evil")))
        assert result.code == "forbidden"


@pytest.mark.parametrize("mode", ["bypassPermissions", "auto", "nonsense", "--mode"])
async def test_no_client_can_choose_a_mode_above_the_ceiling(tmp_path: Path, mode: str) -> None:
    async with ServerHarness(tmp_path) as harness:
        refused = await harness.act(NewSession(cwd=str(harness.project), mode=mode))
        assert refused.code in ("forbidden", "bad_message")
        session = await harness.new()
        await harness.state(session, "ready")
        refused = await harness.act(SetMode(session=session, mode=mode))
        assert refused.code in ("forbidden", "bad_message")
        subtypes = [each["request"]["subtype"] for each in harness.told("control_request")]
        assert "set_permission_mode" not in subtypes


async def test_mode_and_model_are_switched_and_given_again_after_a_restart(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="hello")
        await harness.state(session, "idle")
        assert (await harness.act(SetMode(session=session, mode="acceptEdits"))).ok
        assert (await harness.act(SetModel(session=session, model="small"))).ok
        unknown = await harness.act(SetModel(session=session, model="huge"))
        assert (unknown.code, unknown.result["models"]) == ("not_found", ["big", "small"])
        assert (await harness.act(Restart(session=session))).ok
        _, second = harness.told("argv")
        assert "--permission-mode=acceptEdits" in second["argv"]
        assert "--model=small" in second["argv"]
        live = harness.live(session)
        assert f"--resume={live.transcript.session.id}" in second["argv"]


async def test_what_looks_like_a_flag_is_refused(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        result = await harness.act(NewSession(cwd=str(harness.project), model="--dangerously"))
        assert result.code == "bad_message"
        assert not harness.told()


async def test_a_session_without_an_agent_says_so(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, agent=tmp_path / "no-such-claude") as harness:
        result = await harness.act(NewSession(cwd=str(harness.project)))
        assert result.code == "agent_failed"
        assert "no-such-claude" in (result.message or "")
        assert harness.lobby("sessions") == {}


async def test_several_clients_see_the_same_state(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        hub_clients = [await harness.hub_client(session, f"r{n}") for n in range(5)]
        await harness.say(session, {"flood": 300})
        live = await harness.state(session, "idle")
        await live.journal.flush()
        for hub_client in hub_clients:
            hub_client.drain(1e9)
        assert all(hub_client.seq == live.seq for hub_client in hub_clients)
        assert all(hub_client.state == hub_clients[0].state for hub_client in hub_clients)


async def test_devices_are_listed_with_their_presence_and_can_be_revoked(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        phone = Device(id="p", name="phone", role="approver", token_hash="h", created=1.0)
        await harness.store.put_device(phone)
        harness.registry.arrived(phone, "s1")
        harness.registry.arrived(phone, "s2")
        harness.registry.left(phone, "s1")
        assert harness.lobby("devices")["p"]["connected"] is True
        harness.registry.left(phone, "s2")
        assert harness.lobby("devices")["p"]["connected"] is False
        assert (await harness.act(RevokeDevice(device="p"))).ok
        assert "p" not in harness.lobby("devices")
        assert await harness.store.device_by_token_hash("h") is None


async def test_too_many_running_sessions_end_an_idle_one_or_are_refused(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=Limits(sessions_live=2)) as harness:
        idle = await harness.new(prompt="done soon")
        await harness.state(idle, "idle")
        await busy_session(harness)
        await harness.new()
        assert not harness.live(idle).live
        assert len(harness.registry.sessions.live) == 2
        await harness.until(lambda: harness.lobby("sessions")[idle]["live"] is False)


async def test_busy_sessions_are_never_ended_for_others(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=Limits(sessions_live=1)) as harness:
        await busy_session(harness)
        result = await harness.act(NewSession(cwd=str(harness.project)))
        assert result.code == "too_many"


async def test_an_idle_session_without_viewers_is_ended_and_resumes_by_itself(
    tmp_path: Path,
) -> None:
    now = [1_000.0]
    limits = Limits(idle_s=100.0)
    async with ServerHarness(tmp_path, limits=limits, clock=lambda: now[0]) as harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        hub_client = await harness.hub_client(session)
        now[0] += 1_000.0
        await harness.registry.sessions.cull()
        assert live.live  # somebody looks
        hub_client.look(False, 0.0)
        await harness.registry.sessions.cull()
        assert not live.live
        await harness.say(session, text="are you there?")
        await harness.until(lambda: harness.prompts() == ["hello", "are you there?"])
        assert f"--resume={live.transcript.session.id}" in harness.told("argv")[1]["argv"]


async def test_unused_transcripts_are_unloaded_and_loaded_again(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=Limits(transcripts_loaded=1)) as harness:
        sessions = []
        for text in ("one", "two", "three"):
            session = await harness.new(prompt=text)
            await harness.state(session, "idle")
            assert (await harness.act(Stop(session=session))).ok
            sessions.append(session)
        await harness.registry.sessions.cull()
        assert [harness.registry.sessions.loaded(session) is None for session in sessions] == [
            True,
            True,
            False,
        ]
        hub_client = await harness.hub_client(sessions[0])
        assert hub_client.state is not None
        assert hub_client.state["items"][0]["text"] == "one"


async def test_a_session_that_is_unloaded_twice_at_the_same_time_is_released_once(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, limits=Limits(transcripts_loaded=0)) as harness:
        names = []
        for text in ("one", "two", "three"):
            names.append(await harness.new(prompt=text))
            await harness.state(names[-1], "idle")
            assert (await harness.act(Stop(session=names[-1]))).ok
        sessions = harness.registry.sessions
        retired = sessions.retired
        # The first one is unloaded by `cull` while the others are unloaded for another reason.
        await asyncio.gather(sessions.cull(), *map(sessions.unload, names))
        assert [sessions.loaded(name) for name in names] == [None, None, None]
        assert sessions.retired == retired + 3


async def test_a_session_that_is_opened_while_others_are_unloaded_stays(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=Limits(transcripts_loaded=0)) as harness:
        names = []
        for text in ("one", "two"):
            names.append(await harness.new(prompt=text))
            await harness.state(names[-1], "idle")
            assert (await harness.act(Stop(session=names[-1]))).ok
        hub_client, _ = await asyncio.gather(
            harness.hub_client(names[1]), harness.registry.sessions.cull()
        )
        assert hub_client.state is not None
        assert harness.registry.sessions.loaded(names[0]) is None
        assert harness.registry.sessions.loaded(names[1]) is not None
