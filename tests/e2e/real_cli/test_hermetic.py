"""The test environment: a real CLI, a scripted model, no network."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fairlead.model_api.api import ModelApi
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import fail, reply, thinking, tool, use
from fairlead.model_api.script import when
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.raw_cli import RawCli

Start = Callable[..., Awaitable[RawCli]]
Message = dict[str, Any]

RECORDINGS = Path(__file__).parents[2] / "recordings"


async def test_a_message_gets_the_scripted_text_as_its_result(
    raw: Start, cli: RealCli, model: ModelApi
) -> None:
    model.push(reply("Hello there, this is a scripted reply."))
    process = await raw()
    process.say("hi")
    init = await process.until("system")
    result = await process.until("result")
    assert init["claude_code_version"] == cli.version
    assert init["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert (result["subtype"], result["is_error"]) == ("success", False)
    assert result["result"] == "Hello there, this is a scripted reply."
    assert result["usage"]["output_tokens"] == 42
    assert [request.text for request in model.requests] == ["hi"]
    assert await process.end_input() == 0


async def test_a_turn_matches_its_recording(
    cli: RealCli, cli_env: dict[str, str], project: Path, model: ModelApi
) -> None:
    flags, said, recorded = first_turn_of(RECORDINGS / cli.version / "simple.ndjson")
    model.push(reply(recorded[-1]["result"]))
    async with RawCli(cli, env=cli_env, cwd=project, flags=flags) as process:
        process.send(said)
        await process.until("result")
        assert [kind(message) for message in process.seen] == [kind(m) for m in recorded]
        for seen, before in zip(process.seen, recorded, strict=True):
            assert set(seen) == set(before)
        assert process.seen[0]["tools"] == recorded[0]["tools"]
        assert process.seen[-1]["total_cost_usd"] == recorded[-1]["total_cost_usd"]


def first_turn_of(path: Path) -> tuple[tuple[str, ...], Message, list[Message]]:
    """Flags, user message and output, up to the first result."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    flags = records[0]["msg"]["argv"][1:]
    said = next(record["msg"] for record in records if record["dir"] == "in")
    output = [record["msg"] for record in records if record["dir"] == "out"]
    end = next(index for index, message in enumerate(output) if message["type"] == "result")
    return tuple(flags), said, output[: end + 1]


def kind(message: Message) -> tuple[str, str | None]:
    return message["type"], message.get("subtype")


async def test_an_allowed_tool_runs_and_the_model_gets_its_result(
    raw: Start, model: ModelApi, project: Path
) -> None:
    model.push(use("Bash", command="echo hi > out.txt; cat out.txt", description="d"))
    process = await raw()
    process.say("go")
    request = await process.until("control_request")
    assert request["request"]["subtype"] == "can_use_tool"
    assert request["request"]["tool_name"] == "Bash"
    assert not (project / "out.txt").exists()
    process.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
    result = await process.until("result")
    assert result["result"] == "Done."
    assert (project / "out.txt").read_text() == "hi\n"
    (seen,) = model.requests[1].tool_results
    assert (seen.text, seen.is_error) == ("hi", False)
    assert seen.tool_use_id == request["request"]["tool_use_id"]


async def test_several_blocks_of_one_reply_become_one_message(
    raw: Start, model: ModelApi, project: Path
) -> None:
    (project / "a.txt").write_text("aa")
    (project / "b.txt").write_text("bb")
    model.push(
        reply(
            thinking("Both, then."),
            "I read both.",
            tool("Read", file_path=str(project / "a.txt")),
            tool("Read", file_path=str(project / "b.txt")),
        )
    )
    process = await raw()
    process.say("go")
    await process.until("result")
    spoken = [m["message"] for m in process.seen if m["type"] == "assistant"]
    first = [m["content"][0]["type"] for m in spoken if m["id"] == spoken[0]["id"]]
    assert first == ["thinking", "text", "tool_use", "tool_use"]
    # Results come in the order in which the tools ended (CLI-504), ids in that of the blocks.
    results = sorted(model.requests[1].tool_results, key=lambda result: result.tool_use_id)
    assert ["aa" in results[0].text, "bb" in results[1].text] == [True, True]


async def test_an_api_error_is_the_result_of_the_turn(raw: Start, model: ModelApi) -> None:
    # 2.1.325 tries a 400 a second time (CLI-505), hence for ever.
    model.push(when(fail(400, "a scripted refusal"), times=None))
    process = await raw()
    process.say("hi")
    result = await process.until("result")
    assert (result["subtype"], result["is_error"]) == ("success", True)
    assert "a scripted refusal" in result["result"]
    assert await process.end_input() == 1


async def test_a_request_to_an_overloaded_api_is_retried(raw: Start, model: ModelApi) -> None:
    model.push(fail(529, retry_after=0), reply("Better now."))
    process = await raw()
    process.say("hi")
    assert (await process.until("result"))["result"] == "Better now."
    assert len(model.requests) == 2


async def test_a_stream_that_cannot_start_is_requested_without_streaming(
    raw: Start, cli: RealCli, model: ModelApi
) -> None:
    model.push(fail(404, "no streams here"), reply("In one piece."))
    process = await raw()
    process.say("hi")
    result = await process.until("result")
    falls_back = cli.key >= (2, 1, 38)
    assert ("no streams here" in result["result"]) != falls_back
    assert [request.stream for request in model.requests] == [True, False][: 1 + falls_back]


async def test_a_reply_whose_stream_breaks_off_is_requested_again(
    raw: Start, model: ModelApi
) -> None:
    model.push(reply("This will be lost on the way").but(cut_after=1), reply("Whole."))
    process = await raw()
    process.say("hi")
    assert (await process.until("result"))["result"] == "Whole."
    assert [exchange.outcome for exchange in model.turns] == ["cut", "answered"]


async def test_a_paused_stream_continues_when_its_gate_opens(raw: Start, model: ModelApi) -> None:
    gate = Gate()
    model.push(reply("one two").but(delta_chars=4, hold=gate, hold_after=1))
    process = await raw()
    process.say("hi")
    await process.until(lambda message: delta_of(message) == "one ")
    await gate.reached()
    gate.open()
    await process.until(lambda message: delta_of(message) == "two")
    assert (await process.until("result"))["result"] == "one two"


def delta_of(message: Message) -> str | None:
    event = message.get("event", {})
    return event.get("delta", {}).get("text") if message["type"] == "stream_event" else None


async def test_side_requests_do_not_use_up_the_script(
    raw: Start, cli: RealCli, model: ModelApi, project: Path
) -> None:
    begin_history(project)
    model.push(use("Bash", command="npm --version", description="d"), reply("One."), reply("Two."))
    process = await raw()
    process.say("go")
    request = await process.until("control_request")
    process.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
    assert (await process.until("result"))["result"] == "One."
    await process.request("set_model", model="claude-unheard-of")
    process.say("/compact")
    await process.until("result")
    process.say("again")
    assert (await process.until("result"))["result"] == "Two."
    kinds = {request.kind for request in model.side_requests if request.is_messages}
    assert "compact" in kinds
    assert kinds <= {"compact", "prefix", "paths", "history", "probe"}
    assert ({"paths", "history"} <= kinds) == (cli.key < (2, 1, 120))
    assert model.unused == ()


def begin_history(project: Path) -> None:
    """Make the project a repository in which a file was changed, which 2.1.38 asks about."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, timeout=30)

    git("init")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.invalid")
    for text in ("one", "two"):
        (project / "a.py").write_text(text)
        git("add", ".")
        git("commit", "-m", text)


async def test_a_session_writes_its_files_to_its_own_home_folder(
    raw: Start, home: Path, model: ModelApi
) -> None:
    process = await raw()
    process.say("hi")
    result = await process.until("result")
    assert await process.end_input() == 0
    assert transcripts_in(home) == [result["session_id"]]


def transcripts_in(home: Path) -> list[str]:
    return [path.stem for path in home.glob(".claude/projects/*/*.jsonl")]
