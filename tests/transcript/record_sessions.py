"""Record the sessions of `tests/transcript/sessions` again, with real CLIs and a scripted model.

    python -m fairlead.testing.isolated -- python -m tests.transcript.record_sessions [VERSION …]

Each scenario runs in a project of its own; its stream and the transcript files the CLI left are
written to one file. Paths of this machine become `/workspace/…`. Ids and times are new each
time, so this is for a new CLI version or a new scenario, not for every day.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import fail, reply, thinking, tool
from fairlead.model_api.script import Step, when
from fairlead.testing.hermetic import hermetic_env
from fairlead.testing.real_cli import ensure
from tests.e2e.real_cli.raw_cli import FLAGS, RawCli
from tests.transcript.recordings import SESSIONS

VERSIONS = ("2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325")
SETTLE_S = 1.0
"""Old CLIs write the last records of a turn after its result (CLI-705)."""

UNREAD = ("api-request", "api-request-blob", "api-request-shape", "atis-latch")
"""Records that contain whole prompts and are not used."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the model says, what the host does, and with which flags."""

    script: Callable[[Path], list[Step]]
    drive: Callable[[RawCli], Awaitable[None]]
    flags: tuple[str, ...] = ()


class RecordedCli(RawCli):
    """A CLI of which every line is kept, with its time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.entries: list[Message] = []
        self._began = time.monotonic()
        self.seen = _Ear(lambda message: self.note("out", message))

    def send(self, message: Message) -> None:
        self.note("in", message)
        super().send(message)

    def note(self, direction: str, message: Message) -> None:
        at = round(time.monotonic() - self._began, 3)
        self.entries.append({"t": at, "dir": direction, "msg": message})


class _Ear(list[Message]):
    """A list that reports what is appended to it."""

    def __init__(self, tell: Callable[[Message], None]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, message: Message) -> None:
        self._tell(message)
        super().append(message)


def _asks_permission(message: Message) -> bool:
    asks = message["type"] == "control_request"
    return bool(asks and message["request"]["subtype"] == "can_use_tool")


async def _allow(cli: RawCli, **more: Any) -> None:
    request = await cli.until(_asks_permission)
    updated = {**request["request"]["input"], **more}
    cli.answer(request, {"behavior": "allow", "updatedInput": updated})


async def _turn(cli: RawCli, text: str) -> None:
    cli.say(text)
    await cli.until("result")


async def _tools(cli: RawCli) -> None:
    cli.say("do things")
    await _allow(cli)
    cli.answer(await cli.until(_asks_permission), {"behavior": "deny", "message": "not today"})
    await cli.until("result")
    for text in ("/cost", "/context", "and again"):
        await _turn(cli, text)


async def _subagent(cli: RawCli) -> None:
    await _turn(cli, "delegate")


async def _queue(cli: RawCli) -> None:
    cli.say("one")
    await cli.until("assistant")
    await asyncio.sleep(0.5)
    await _turn(cli, "two, while a tool runs")
    for text in ("compact me", "/compact", "after compaction"):
        await _turn(cli, text)


async def _interrupt(cli: RawCli) -> None:
    cli.say("tell me")
    await cli.until(lambda m: m["type"] == "stream_event" and "delta" in m["event"])
    await cli.request("interrupt")
    await cli.until("result")
    cli.say("run it")
    await cli.until(lambda m: m["type"] == "assistant" and "tool_use" in json.dumps(m))
    await asyncio.sleep(1.0)
    await cli.request("interrupt")
    await cli.until("result")
    await _turn(cli, "and now?")


async def _background(cli: RawCli) -> None:
    await _turn(cli, "start")
    await asyncio.sleep(4.0)
    await _turn(cli, "are you there?")


async def _ask(cli: RawCli) -> None:
    cli.say("ask me")
    await _allow(cli, answers={"Which?": "B"})
    await cli.until("result")
    await _turn(cli, "fail")
    image = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content = [{"type": "text", "text": "see this"}, {"type": "image", "source": image}]
    message = {"role": "user", "content": content}
    cli.send({"type": "user", "uuid": str(uuid.uuid4()), "message": message})
    await cli.until("result")


def _tools_script(project: Path) -> list[Step]:
    path = str(project / "a.txt")
    return [
        reply(
            thinking("I look first"),
            "I will look at both.",
            tool("Read", file_path=path),
            tool("Bash", command="ls", description="list"),
        ),
        reply(
            "Now an edit.",
            tool("Edit", file_path=path, old_string="two", new_string="TWO\nthree"),
        ),
        reply(tool("Bash", command="exit 3", description="fail")),
        reply(tool("Bash", command="touch denied.txt && npm x", description="denied")),
        reply("All done."),
        reply("Second answer."),
    ]


def _agent_script(background: bool) -> Callable[[Path], list[Step]]:
    launch = tool(
        "Task",
        description="bg" if background else "work A",
        prompt="SUBPROMPT do it",
        subagent_type="general-purpose",
        run_in_background=background,
    )
    work = reply("in the sub", tool("Bash", command="echo from-sub", description="d"))
    return lambda project: [
        reply("I delegate.", launch),
        when(work.but(delay=1.0 if background else 0.0), text="SUBPROMPT"),
        when(reply("sub final"), tool_result="from-sub"),
        reply("It runs." if background else "Finished."),
        reply("It has ended."),
    ]


def _queue_script(project: Path) -> list[Step]:
    sleep = tool("Bash", command="sleep 3; echo slept", description="d")
    return [reply(sleep), reply("Answer to both."), reply("word " * 30), reply("After.")]


def _interrupt_script(project: Path) -> list[Step]:
    slow = reply("word " * 40).but(delta_delay=0.15, delta_chars=8)
    sleep = tool("Bash", command="sleep 20", description="d")
    return [slow, reply("Now a tool.", sleep), reply("Back again.")]


def _ask_script(project: Path) -> list[Step]:
    options = [{"label": entry, "description": entry} for entry in ("A", "B")]
    question = {"question": "Which?", "header": "H", "multiSelect": False, "options": options}
    bad = fail(400, "bad request")
    asked = reply(tool("AskUserQuestion", questions=[question]))
    return [asked, reply("You chose."), bad, bad, bad, reply("Better.")]


AGENTS = ("--allowedTools", "Bash,Task,Agent", "--permission-mode", "acceptEdits")

SCENARIOS = {
    "tools": Scenario(_tools_script, _tools, ("--allowedTools", "Read,Bash(ls),Bash(exit:*)")),
    "subagent": Scenario(_agent_script(background=False), _subagent, AGENTS),
    "background": Scenario(_agent_script(background=True), _background, AGENTS),
    "queue": Scenario(_queue_script, _queue, ("--allowedTools", "Bash")),
    "interrupt": Scenario(_interrupt_script, _interrupt, ("--allowedTools", "Bash")),
    "ask": Scenario(_ask_script, _ask),
}


async def record(version: str, name: str, folder: Path = SESSIONS) -> None:
    """Run one scenario and write what came of it."""
    scenario = SCENARIOS[name]
    root = Path(tempfile.mkdtemp(prefix="fl"))
    home, project = root / "home", root / "project"
    home.mkdir()
    project.mkdir()
    (project / "a.txt").write_text("one\ntwo\n")
    try:
        async with ModelApi(scenario.script(project), tag="") as model:
            env = hermetic_env(home, model.base_url)
            flags = (*FLAGS, *scenario.flags)
            async with RecordedCli(ensure(version), env=env, cwd=project, flags=flags) as cli:
                await scenario.drive(cli)
                await asyncio.sleep(SETTLE_S)
                cli.note("end", {"rc": await cli.end_input(), "status": "ok", "stderr": ""})
        text = _written(cli.entries, _files(home / ".claude" / "projects"))
        (folder / version).mkdir(parents=True, exist_ok=True)
        (folder / version / f"{name}.json").write_text(_anonymous(text, root))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _files(projects: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(projects.rglob("*.json*")):
        name = str(path.relative_to(projects))
        if path.suffix == ".json":
            found[name] = json.loads(path.read_text())
        else:
            records = [json.loads(line) for line in path.read_text().splitlines()]
            found[name] = [_cut(entry) for entry in records if entry.get("type") not in UNREAD]
    return found


def _cut(record: Message) -> Message:
    """An attachment without what it holds, unless it is a prompt."""
    record.pop("rendered", None)
    attachment = record.get("attachment")
    if isinstance(attachment, dict) and attachment.get("type") != "queued_command":
        record["attachment"] = {"type": attachment.get("type")}
    return record


def _written(entries: list[Message], files: dict[str, Any]) -> str:
    """JSON with one line for each entry and each record."""
    parts = [f'"stream":[\n{_lines(entries)}\n]']
    inner = [
        f"{json.dumps(name)}:"
        + (f"[\n{_lines(value)}\n]" if isinstance(value, list) else json.dumps(value))
        for name, value in files.items()
    ]
    parts.append('"files":{\n' + ",\n".join(inner) + "}")
    return "{" + ",".join(parts) + "}\n"


def _lines(values: list[Any]) -> str:
    compact = (json.dumps(entry, separators=(",", ":"), ensure_ascii=False) for entry in values)
    return ",\n".join(compact)


def _anonymous(text: str, root: Path) -> str:
    """Without the paths of this machine, also where a delta or a folder name holds a part."""
    plain = str(root).lstrip("/")
    text = text.replace(plain, "workspace").replace(plain.replace("/", "-"), "workspace")
    if root.name in text:
        raise SystemExit(f"a path of this machine is left: {root.name}; run it again")
    return text


async def main(versions: list[str]) -> None:
    for version in versions or VERSIONS:
        for name in SCENARIOS:
            await record(version, name)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
