"""The CLI's own files through the same reducer: live = history, but for a named list."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript import Transcript
from fairlead.transcript.history.reader import Subagent, history
from fairlead.transcript.state.model import NoticeItem, PromptItem, TextItem, ToolItem
from tests.transcript.recordings import SESSIONS, fold, from_files, plain, stream

ALL_SESSIONS = sorted(f"{path.parent.name}/{path.stem}" for path in SESSIONS.glob("*/*.json"))

# The named list (docs/transcript.md, "Live and history"): what the two may differ in.
TIMES = ("at", "started", "ended", "elapsed")
NOT_IN_FILES = ("decision", "tokens", "data")
RENAMED = {"/cost": "/usage", "cost": "usage"}
HIDES_DENIALS = ("2.1.29", "2.1.38", "2.1.120", "2.1.220")
FORGETS_FOLDED_PROMPTS = ("2.1.29", "2.1.38")
GIVES_COMMANDS_NEW_IDS = ("2.1.29", "2.1.38", "2.1.120")
ONE_RESULT_FOR_TWO_TURNS = "2.1.120/background"


def version_of(name: str) -> str:
    return name.split("/")[0]


def conversation(transcript: Transcript, name: str) -> list[dict[str, Any]]:
    """The items both sides must agree on, without the fields of the named list."""
    found = []
    for item in plain(transcript)["items"]:
        if item["parent"] is not None or item.get("notice") == "injected":
            continue
        kept = {key: value for key, value in item.items() if key not in (*TIMES, *NOT_IN_FILES)}
        if kept["kind"] == "prompt":
            if kept["into"] is not None and version_of(name) in FORGETS_FOLDED_PROMPTS:
                continue
            kept["text"] = RENAMED.get(kept["text"], kept["text"])
            if kept["command"] is not None and version_of(name) in GIVES_COMMANDS_NEW_IDS:
                del kept["id"], kept["uuid"]
        if "command" in kept:
            kept["command"] = RENAMED.get(kept["command"] or "", kept["command"])
        if kept.get("state") == "denied" and version_of(name) in HIDES_DENIALS:
            kept["state"] = "failed"
        if name == ONE_RESULT_FOR_TWO_TURNS:
            del kept["turn"]
        found.append(kept)
    return found


@pytest.mark.parametrize("name", ALL_SESSIONS)
def test_T117_live_and_history_of_a_session_are_the_same_conversation(name: str) -> None:
    live, files = fold(stream(f"sessions/{name}")), from_files(name)
    assert conversation(live, name) == conversation(files, name)


@pytest.mark.parametrize("name", ALL_SESSIONS)
def test_T117_live_and_history_of_a_session_have_the_same_turns(name: str) -> None:
    if name == ONE_RESULT_FOR_TWO_TURNS:
        return
    live, files = fold(stream(f"sessions/{name}")), from_files(name)
    assert [(turn.id, turn.origin, turn.outcome) for turn in live.turns] == [
        (turn.id, turn.origin, turn.outcome) for turn in files.turns
    ]


@pytest.mark.parametrize("name", ALL_SESSIONS)
def test_T117_live_and_history_of_a_session_have_the_same_files_tasks_and_costs(name: str) -> None:
    live, files = fold(stream(f"sessions/{name}")), from_files(name)
    assert live.files == files.files
    assert live.tasks == files.tasks
    for field in ("id", "cwd", "version", "permission_mode"):
        assert getattr(live.session, field) == getattr(files.session, field)
    if version_of(name) == "2.1.325":
        assert live.ledger.cost_usd == pytest.approx(files.ledger.cost_usd)


@pytest.mark.parametrize(
    "name",
    [session for session in ALL_SESSIONS if "subagent" in session or "background" in session],
)
def test_T118_subagents_hang_under_the_call_that_started_them(name: str) -> None:
    live, files = fold(stream(f"sessions/{name}")), from_files(name)
    (task,) = (item for item in files.items if isinstance(item, ToolItem) and item.name == "Task")
    children = [item for item in files.items if item.parent == task.id]
    assert any(isinstance(child, ToolItem) and child.result == "from-sub" for child in children)
    assert any(isinstance(child, TextItem) and child.text.endswith("final") for child in children)
    theirs = {child.id for child in children}
    assert {item.id for item in live.items if item.parent == task.id} <= theirs


def test_T118_a_subagent_whose_call_is_unknown_is_kept() -> None:
    record = {"type": "user", "uuid": "u", "message": {"role": "user", "content": "do it"}}
    transcript = fold(history([], [Subagent(agent="a9", records=(record,))]))
    (item,) = transcript.items
    assert (item.parent, isinstance(item, PromptItem)) == ("agent:a9", True)


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **fields}


def assistant(uuid: str, parent: str | None, *blocks: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "id": f"msg-{uuid}", "model": "m", "content": list(blocks)}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message, **fields}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def words(transcript: Transcript) -> list[str]:
    return [getattr(item, "text", item.id) for item in transcript.items]


def test_T119_what_the_file_hides_is_not_shown() -> None:
    records = [
        user("1", None, "hello"),
        user("2", "1", "caveat", isMeta=True),
        user("3", "2", "summary", isCompactSummary=True),
        {"type": "attachment", "uuid": "4", "parentUuid": "3", "attachment": {"type": "date"}},
        {"type": "queue-operation", "operation": "enqueue", "content": "hello"},
        {"type": "file-history-snapshot", "messageId": "x"},
        user("s", None, "sidechain", isSidechain=True),
        assistant("5", "4", text("hi")),
    ]
    assert words(fold(history(records))) == ["hello", "hi"]


def test_T120_each_prompt_begins_a_turn_and_the_file_ends_the_last() -> None:
    records = [
        user("1", None, "one"),
        assistant("2", "1", text("first")),
        user("3", "2", "two"),
        assistant("4", "3", text("API Error: 529"), isApiErrorMessage=True, error="overloaded"),
        user("5", "4", "three"),
        user("6", "5", "[Request interrupted by user]"),
        user("7", "6", "four"),
    ]
    transcript = fold(history(records))
    assert [turn.outcome for turn in transcript.turns] == [
        "success", "api_error", "interrupted", "unknown",
    ]  # fmt: skip
    assert transcript.status.state == "ended"
    assert transcript.turn is None


def test_T120_a_prompt_that_was_folded_into_a_turn_stays_in_it() -> None:
    queued = {
        "type": "queued_command",
        "prompt": "two",
        "source_uuid": "own",
        "commandMode": "prompt",
    }
    records = [
        user("1", None, "one"),
        {"type": "attachment", "uuid": "2", "parentUuid": "1", "attachment": queued},
        assistant("3", "2", text("to both")),
    ]
    transcript = fold(history(records))
    assert [turn.prompts for turn in transcript.turns] == [("1", "own")]
    folded = transcript.item("own")
    assert isinstance(folded, PromptItem)
    assert (folded.state, folded.into) == ("merged", "1")


def test_T120_the_end_of_a_background_task_begins_a_turn_without_a_prompt() -> None:
    note = "<task-notification><task-id>b1</task-id><status>completed</status><result>ok</result></task-notification>"
    records = [
        user("1", None, "one"),
        user("2", "1", note, origin={"kind": "task-notification"}),
        assistant("3", "2", text("it ended")),
    ]
    transcript = fold(history(records))
    assert [(turn.origin, turn.prompts) for turn in transcript.turns] == [
        ("user", ("1",)), ("background", ()),
    ]  # fmt: skip
    (task,) = transcript.background
    assert (task.id, task.state, task.summary) == ("b1", "completed", "ok")


def test_T121_a_tool_that_was_interrupted_is_known_by_the_note_after_it() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    failed = [{"type": "tool_result", "tool_use_id": "t", "content": "137", "is_error": True}]
    records = [
        user("1", None, "go"),
        assistant("2", "1", call),
        user("3", "2", failed, toolUseResult="Error: 137"),
        user("4", "3", "[Request interrupted by user for tool use]"),
    ]
    tool = fold(history(records)).item("t")
    assert isinstance(tool, ToolItem)
    assert (tool.state, tool.structured) == ("interrupted", "Error: 137")


def test_T121_a_tool_that_was_left_open_is_closed() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    tool = fold(history([user("1", None, "go"), assistant("2", "1", call)])).item("t")
    assert isinstance(tool, ToolItem)
    assert tool.state == "interrupted"


def test_T122_a_title_is_found_under_each_of_its_names() -> None:
    for record in ({"type": "summary", "summary": "S"}, {"type": "custom-title", "customTitle": "S"},
                   {"type": "ai-title", "aiTitle": "S"}):  # fmt: skip
        assert fold(history([record])).session.title == "S"


def test_T122_a_compaction_keeps_its_tokens() -> None:
    records = [
        user("1", None, "one"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "2", "parentUuid": None,
         "logicalParentUuid": "1", "compactMetadata": {"trigger": "auto", "preTokens": 9}},
        assistant("3", "2", text("on")),
    ]  # fmt: skip
    transcript = fold(history(records))
    (notice,) = (item for item in transcript.items if isinstance(item, NoticeItem))
    assert (notice.notice, notice.data["trigger"], notice.data["pre_tokens"]) == (
        "compaction",
        "auto",
        9,
    )


def test_T123_odd_records_do_no_harm() -> None:
    odd: list[Any] = [
        {},
        {"type": "user"},
        {"type": "user", "uuid": 7, "message": "x"},
        {"type": "assistant", "uuid": "a", "message": {"content": [{"type": "hologram"}]}},
        {"type": "system", "subtype": ["x"], "uuid": "b"},
        {"type": "attachment", "uuid": "c", "attachment": "x"},
        {"type": "cost-state", "totalCostUSD": "much"},
        "text",
        None,
    ]
    transcript = fold(history([*odd, user("z", None, "still here")]))
    assert words(transcript)[-1] == "still here"


def test_T124_a_session_goes_on_where_its_file_ends() -> None:
    transcript = from_files("2.1.325/tools")
    before = len(transcript.items)
    for fed, at in stream("2.1.325/simple"):
        transcript.feed(fed, at)
    assert len(transcript.items) == before + 4
    assert transcript.status.state == "ended"
