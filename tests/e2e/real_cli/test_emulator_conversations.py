"""The emulator compared with the real CLI: structured output, wrong input, long commands,
compaction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import Reply, reply, tool, use
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.comparable import comparable
from tests.e2e.real_cli.side_by_side import Host, ModelReply, SideBySide

# `make test` compares the emulator with recordings of these versions (tests/emulator).
EMULATED = pytest.mark.parametrize("cli", ["2.1.38", "2.1.325"], indirect=True)

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string", "enum": ["a", "b"]},
        "l": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.fixture
def side_by_side(
    cli: RealCli, model: ModelApi, cli_env: dict[str, str], project: Path, tmp_path: Path
) -> SideBySide:
    return SideBySide(
        cli=cli, model=model, env=cli_env, project=project, folder=tmp_path / "emulated"
    )


async def one_turn(host: Host) -> list[str]:
    await host.turn("go")
    return comparable(host.process.seen, host.project, without=("run_id", "task_id"))


@EMULATED
@pytest.mark.parametrize(
    "replies",
    [
        [use("StructuredOutput", n=1)],
        [reply("no json"), use("StructuredOutput", n=2)],
        [use("StructuredOutput"), use("StructuredOutput", n=1, z=2), use("StructuredOutput", n=3)],
        [
            use("StructuredOutput", n="x", s=3),
            use("StructuredOutput", n=1, l=["a", 1]),
            use("StructuredOutput", n=1, s="a", l=["b"]),
        ],
        [reply(tool("Bash", command="ls", description="d"), tool("StructuredOutput", n=4))],
    ],
    ids=["at once", "when told", "after misfits", "after more misfits", "beside a tool"],
)
async def test_E31_structured_output_is_checked_and_ends_the_turn(
    replies: list[Reply], side_by_side: SideBySide
) -> None:
    flags = ("--json-schema", json.dumps(SCHEMA))
    script = [ModelReply(one) for one in [*replies, reply("after")]]
    on_cli, emulated = await side_by_side.play(one_turn, replies=script, flags=flags)
    assert emulated == on_cli
    assert any('"structured_output"' in line for line in emulated)


@EMULATED
@pytest.mark.parametrize(
    "wrong",
    [
        use("Bash"),
        use("Bash", command=3),
        use("Bash", command="ls", colour="red", size=1),
        use("Bash", command="ls", timeout="soon"),
        use("Read"),
        use("Write", file_path="a", text="b"),
        use("Edit", file_path="a"),
        use("AskUserQuestion"),
    ],
    ids=lambda wrong: f"{wrong.blocks[0].name} {dict(wrong.blocks[0].input)}",
)
async def test_E32_an_input_that_does_not_fit_is_refused_in_the_same_words(
    wrong: Reply, side_by_side: SideBySide
) -> None:
    replies = [ModelReply(wrong), ModelReply(reply("after"))]
    on_cli, emulated = await side_by_side.play(one_turn, replies=replies)
    assert emulated == on_cli
    assert any("InputValidationError" in line for line in emulated)


@EMULATED
async def test_E23_a_long_command_is_reported_as_a_task(
    side_by_side: SideBySide, cli: RealCli
) -> None:
    command = use("Bash", command="sleep 4; echo hi", description="d")
    replies = [ModelReply(command), ModelReply(reply("after"))]
    flags = ("--allowedTools", "Bash")
    on_cli, emulated = await side_by_side.play(one_turn, replies=replies, flags=flags)
    assert emulated == on_cli
    assert any("task_started" in line for line in emulated) == (cli.version == "2.1.325")


@EMULATED
async def test_E23_a_requested_compaction_is_reported_in_the_same_way(
    side_by_side: SideBySide,
) -> None:
    """Except for the text of the summary and its size."""

    async def scenario(host: Host) -> Any:
        for prompt in ("go", "/compact", "again"):
            await host.turn(prompt)
        lines = [_without_summary(line) for line in host.process.seen]
        without = (
            "post_tokens",
            "logical_parent_uuid",
            "num_turns",
        )  # 2.1.38 counts what it summarized
        return comparable(lines, host.project, without=without)

    flags = ("--replay-user-messages",)
    on_cli, emulated = await side_by_side.play(
        scenario, replies=[ModelReply(reply("one"))], flags=flags
    )
    assert emulated == on_cli
    assert sum("a summary" in line for line in emulated) == 1


def _without_summary(line: dict[str, Any]) -> dict[str, Any]:
    if line.get("isReplay") is not False:
        return line
    return {**line, "message": {"role": "user", "content": "a summary"}}


@EMULATED
async def test_E23_files_of_an_unknown_prompt_cannot_be_put_back(side_by_side: SideBySide) -> None:
    async def scenario(host: Host) -> Any:
        await host.turn("go")
        answers = []
        for dry in ({}, {"dry_run": True}):
            body = {"subtype": "rewind_files", "user_message_id": NOBODY, **dry}
            request = {"type": "control_request", "request_id": "r", "request": body}
            host.process.send(request)
            answers.append((await host.until("control_response"))["response"])
        return answers

    changed = {**side_by_side.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}
    able = SideBySide(
        cli=side_by_side.cli,
        model=side_by_side.model,
        env=changed,
        project=side_by_side.project,
        folder=side_by_side.folder,
    )
    on_cli, emulated = await able.play(scenario)
    assert emulated == on_cli
    assert [answer["subtype"] for answer in emulated] == ["error", "success"]


NOBODY = "99999999-9999-4999-8999-999999999999"
