"""The requests of real CLIs, as recorded: each is understood, and answered as a CLI took it.

Behavior of docs/cli-behaviour.md that is expensive to provoke on a real CLI is shown here on its recordings.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairlead.host.engine.engine import Answered, Asked, Engine
from fairlead.host.mcp.server import Server
from fairlead.host.mcp.tools import tool
from fairlead.host.process.exits import hint
from fairlead.host.process.recording import read_recording
from fairlead.host.requests.decisions import (
    Allow,
    Decision,
    Deny,
    PermissionRequest,
    write_decision,
)
from fairlead.host.requests.dispatch import RequestDispatcher
from fairlead.host.requests.hooks import Hook
from fairlead.host.requests.plans import Approve, PlanRequest
from fairlead.host.requests.questions import Answers, QuestionRequest
from fairlead.wire.blocks import ToolResultBlock, ToolUseBlock
from fairlead.wire.control import (
    CanUseTool,
    ControlRequest,
    HookCallback,
    McpMessage,
    UnknownRequest,
)
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Assistant, Result, User
from fairlead.wire.system import PermissionDenied

RECORDINGS = Path(__file__).parent.parent / "recordings"
VERSIONS = tuple(sorted(path.name for path in RECORDINGS.iterdir()))
LIMIT_S = 30.0


def heard(path: Path) -> list[AnyMessage]:
    """All that the CLI wrote."""
    return [message for _, messages in conversation(path, Engine()) for message in messages]


def conversation(path: Path, engine: Engine) -> Iterator[tuple[Any, list[AnyMessage]]]:
    """A recording, line by line: what the host wrote (or None) and what the engine made of it."""
    for entry in read_recording(path):
        if entry.direction == "in":
            yield entry.line, []
        else:
            yield None, engine.feed(entry.line + b"\n")


def permission_requests(path: Path) -> list[tuple[PermissionRequest, dict[str, Any]]]:
    """The requests for permission of a recording, each with its raw form."""
    engine = Engine()
    matches = []
    for _, messages in conversation(path, engine):
        for take_event in engine.take_events():
            if isinstance(take_event, Asked) and isinstance(take_event.request, CanUseTool):
                raw = json.loads(messages[0].raw)["request"]
                matches.append(
                    (PermissionRequest.of(take_event.request_id, take_event.request), raw)
                )
    return matches


def answers_in(path: Path) -> list[dict[str, Any]]:
    """What the recording's host answered to permission requests."""
    lines = [json.loads(entry.line) for entry in read_recording(path) if entry.direction == "in"]
    responses = [line["response"] for line in lines if line.get("type") == "control_response"]
    return [
        response["response"] for response in responses if "behavior" in response.get("response", {})
    ]


def written(request: PermissionRequest, decision: Decision) -> dict[str, Any]:
    """The answer exactly as it is on the line."""
    answer: dict[str, Any] = json.loads(json.dumps(write_decision(request, decision)))
    return answer


@tool("add", "adds")
def add(a: float, b: float) -> str:
    return str(a + b)


def reception() -> RequestDispatcher:
    """Handlers that answer every request."""

    def first_choices(request: QuestionRequest) -> Answers:
        return Answers({question.text: question.choices[0].label for question in request.questions})

    async def no_plan() -> None:
        return None

    return RequestDispatcher(
        on_permission=lambda request: Allow.always(request),
        on_question=first_choices,
        on_plan=lambda request: Approve(),
        hooks=AnyHook(),
        servers={"calc": Server("calc", tools=[add]).connect()},
        fetch_plan=no_plan,
    )


class AnyHook(dict[str, Hook]):
    """A hook without an opinion under every id."""

    def get(self, key: str, default: Any = None) -> Hook:
        return Hook(event="Stop", handler=lambda call: None)


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_request_of_a_recording_is_known_and_gets_one_answer(version: str) -> None:
    """CLI-300, CLI-400, CLI-811: can_use_tool, hook_callback and mcp_message of every version."""
    kinds: set[type] = set()
    for path in (RECORDINGS / version).glob("*.ndjson"):
        engine = Engine()
        async with asyncio.timeout(LIMIT_S):
            for _ in conversation(path, engine):
                for take_event in engine.take_events():
                    if isinstance(take_event, Asked):
                        kinds.add(type(take_event.request))
                        answer = await reception().answer(take_event.request_id, take_event.request)
                        assert engine.answer(take_event.request_id, answer), path
        assert engine.pending_from_cli == {}, path
    assert UnknownRequest not in kinds
    assert CanUseTool in kinds
    if version in ("2.1.29", "2.1.38", "2.1.325"):
        assert kinds == {CanUseTool, HookCallback, McpMessage}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_suggestion_goes_back_exactly_as_it_came(version: str) -> None:
    """CLI-303: "always allow" echoes the suggestions."""
    echoed = 0
    for path in (RECORDINGS / version).glob("*.ndjson"):
        for request, raw in permission_requests(path):
            suggested = raw.get("permission_suggestions", [])
            answer = written(request, Allow.always(request))
            assert answer.get("updatedPermissions", []) == suggested, path
            assert answer["updatedInput"] == raw["input"]
            echoed += len(suggested)
    assert echoed > 0


def of_questions(**answers: Any) -> Any:
    """A decision on a question: the given answers, notes and all."""
    return lambda request: Answers(**answers).decide(QuestionRequest.of(request))


ACCEPTED = [
    pytest.param("perm_allow", 0, lambda request: Allow(), id="allow"),
    pytest.param("perm_deny", 0, lambda request: Deny("Not allowed"), id="deny"),
    pytest.param(
        "perm_deny_interrupt", 0, lambda request: Deny("Stop it", interrupt=True), id="interrupt"
    ),
    pytest.param(
        "perm_suggest_session", 0, lambda r: Allow.always(r, "session"), id="session only"
    ),
    pytest.param("ask", 0, of_questions(answers={"text 0?": "Blue"}), id="answer"),
    pytest.param("ask", 2, of_questions(answers={"comma 0?": ["Red", "Blue"]}), id="several"),
    pytest.param("ask", 5, of_questions(answers={"two 0?": "Red"}), id="one of two"),
    pytest.param("plan_exit", 0, lambda r: Approve(accept_edits=True).decide(), id="plan"),
]
"""Recording, number of the request in it, and the decision that the recording's host took."""


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
@pytest.mark.parametrize(("name", "number", "decide"), ACCEPTED)
def test_an_answer_is_written_in_the_form_that_the_cli_was_seen_to_take(
    version: str, name: str, number: int, decide: Any
) -> None:
    """CLI-216, CLI-405: the answers of the recordings, which the CLI acted on."""
    path = RECORDINGS / version / f"{name}.ndjson"
    request, _ = permission_requests(path)[number]
    decision: Decision = decide(request)
    actual = written(request, decision)
    expected = answers_in(path)[number]
    assert actual.pop("toolUseID") == request.tool_use_id
    if isinstance(decision, Deny):
        # The words are the person's; the form is what counts.
        assert actual["message"]
        actual["message"] = expected["message"]
    assert actual == expected


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_initialize_is_answered_though_an_mcp_server_is_silent(version: str) -> None:
    """CLI-112: initialize does not wait for the servers. rec mcp_sdk_silent"""
    engine = Engine(id_prefix="host")
    engine.request("initialize", {}, now=0.0, timeout=60.0)
    for entry in read_recording(RECORDINGS / version / "mcp_sdk_silent.ndjson"):
        if entry.direction == "out":
            engine.feed(entry.line.replace(b"host-initialize", b"host-1") + b"\n")
    events = engine.take_events()
    request = [type(event.request) for event in events if isinstance(event, Asked)]
    assert set(request) == {McpMessage}
    (answered,) = [event for event in events if isinstance(event, Answered)]
    assert answered.body.subtype == "success"
    assert len(engine.pending_from_cli) == len(request)


def test_an_end_without_a_word_is_explained() -> None:
    """CLI-112: an sdk server without a name ends 2.1.38 with 0. rec 2.1.38/mcp_sdk_noname"""
    path = RECORDINGS / "2.1.38" / "mcp_sdk_noname.ndjson"
    assert heard(path) == []
    last = json.loads(path.read_text("utf-8").splitlines()[-1])
    end = last["msg"]
    assert (end["rc"], end["stderr"]) == (0, "")
    assert "MCP server without a name" in hint(end["rc"], end["stderr"])


@pytest.mark.parametrize(("version", "reported"), [("2.1.38", False), ("2.1.325", True)])
def test_a_request_is_denied_if_no_user_can_be_asked(version: str, reported: bool) -> None:
    """CLI-308: without --permission-prompt-tool stdio. rec perm_no_flag"""
    messages = heard(RECORDINGS / version / "perm_no_flag.ndjson")
    assert not any(isinstance(message, ControlRequest) for message in messages)
    denials = [
        denial.tool_name
        for result in messages
        if isinstance(result, Result)
        for denial in result.permission_denials
    ]
    assert denials
    announced = [item.tool_name for item in messages if isinstance(item, PermissionDenied)]
    assert announced == (denials if reported else [])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_structured_form_of_a_result_is_recognized_by_its_type(version: str) -> None:
    """CLI-1001: an object on success, a text on failure, a list for MCP, none in a subagent."""
    seen = set()
    for path in (RECORDINGS / version).glob("*.ndjson"):
        messages = heard(path)
        names = {
            block.id: block.name
            for line in messages
            if isinstance(line, Assistant)
            for block in line.message.content
            if isinstance(block, ToolUseBlock)
        }
        for line, block in results_in(messages):
            twin = line.tool_use_result
            seen.add(type(twin))
            if line.parent_tool_use_id is not None:
                assert twin is None, path
            elif block.is_error:
                assert isinstance(twin, str), path
            elif names[block.tool_use_id].startswith("mcp__"):
                assert isinstance(twin, list), path
            else:
                assert isinstance(twin, dict), path
    assert {dict, str, type(None)} <= seen


def results_in(messages: list[AnyMessage]) -> Iterator[tuple[User, ToolResultBlock]]:
    for line in messages:
        if isinstance(line, User) and not isinstance(line.message.content, str | None):
            for block in line.message.content:
                if isinstance(block, ToolResultBlock):
                    yield line, block


@pytest.mark.parametrize("version", VERSIONS)
def test_questions_of_every_version_are_typed(version: str) -> None:
    """CLI-401: 1 to 4 questions, 2 to 4 choices, a short header."""
    requests = [
        QuestionRequest.of(request)
        for request, _ in permission_requests(RECORDINGS / version / "ask.ndjson")
    ]
    assert requests
    for request in requests:
        assert 1 <= len(request.questions) <= 4
        for question in request.questions:
            assert question.text.endswith("?")
            assert 1 <= len(question.header) <= 12
            assert 2 <= len(question.choices) <= 4
            assert all(choice.label for choice in question.choices)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_plan_is_taken_from_the_request_or_asked_for(version: str) -> None:
    """CLI-407: `plan` is in the input up to 2.1.220; later it is fetched. rec plan_exit"""
    shown: list[PlanRequest] = []

    async def fetch() -> str:
        return "fetched"

    async def approve(request: PlanRequest) -> Approve:
        shown.append(request)
        return Approve()

    ((request, raw),) = permission_requests(RECORDINGS / version / "plan_exit.ndjson")[:1]
    answerer = RequestDispatcher(on_plan=approve, fetch_plan=fetch)
    await answerer.answer(request.id, CanUseTool(tool_name="ExitPlanMode", input=raw["input"]))
    assert shown[0].plan == raw["input"].get("plan", "fetched")
    assert ("plan" in raw["input"]) == (version != "2.1.325")


def test_a_request_says_whether_always_is_offered_and_which_answer_is_the_default() -> None:
    plain = PermissionRequest.of("r", CanUseTool(tool_name="Bash", input={}))
    assert (plain.suppress_always_allow_rule, plain.default_to_no) == (False, False)
    careful = CanUseTool(
        tool_name="Bash", input={}, suppress_always_allow_rule=True, default_to_no=True
    )
    request = PermissionRequest.of("r", careful)
    assert (request.suppress_always_allow_rule, request.default_to_no) == (True, True)


def test_a_request_names_the_ask_rule_that_caused_it() -> None:
    rule = {"source": "userSettings", "tool_name": "Bash", "rule_content": "make *"}
    asked = CanUseTool(tool_name="Bash", input={}, matched_ask_rule=rule)
    assert PermissionRequest.of("r", asked).matched_ask_rule == rule
    odd = CanUseTool(tool_name="Bash", input={}, matched_ask_rule="Bash")
    assert PermissionRequest.of("r", odd).matched_ask_rule is None
