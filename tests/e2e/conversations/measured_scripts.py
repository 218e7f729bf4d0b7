"""Host scripts that each show one rule of docs/cli-behaviour.md, as the real CLIs were measured.

They belong to the named scripts: `differential --named` plays them, and their golden conversations hold
the emulator to what the real CLIs wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.e2e.conversations.host_script import Data, HostScript

__all__ = ["measured_scripts"]

OUTSIDE, DEEPER = "{root}/outside/x.txt", "{root}/outside/d/y.txt"
FILES = {"outside/x.txt": "x\n", "outside/d/y.txt": "y\n", "project/a.txt": "one\n"}
STATES = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
SERVER = '{"mcpServers":{"small":{"command":"{python}","args":["{root}/stdio_server.py","good"]}}}'
INITIALIZE: list[Data] = [{"request": {"subtype": "initialize"}}, {"wait": "answered"}]
TURN: list[Data] = [{"prompt": "go"}, {"wait": "result"}]
LIST: Data = {"command": "ls", "description": "d"}
DENY = ["deny"] * 4


def measured_scripts() -> list[HostScript]:
    """All of them."""
    return [
        *_states(),
        *_plan_mode(),
        *_servers(),
        *_skills(),
        *_subagents(),
        *_prompts(),
        *_priorities(),
        *_models(),
        *_rules(),
        *_flags(),
        *_interrupts(),
    ]


def _script(name: str, steps: list[Data], **fields: Any) -> HostScript:
    numbered = [{**step, "segment": 0} for step in steps]
    return HostScript(name=name, theme="named", steps=numbered, **fields)


def _request(**body: Any) -> list[Data]:
    return [{"request": body}, {"wait": "quiet"}]


def _text(text: str) -> Data:
    return {"blocks": [{"type": "text", "text": text}], "segment": 0}


def _uses(*uses: tuple[str, Data] | tuple[str, Data, str]) -> Data:
    """A message with tool uses: name, input, and a letter for the id."""
    blocks = [
        {
            "type": "tool_use",
            "id": f"toolu_{use[2] if len(use) > 2 else 'x'}{number}",
            "name": use[0],
            "input": use[1],
        }
        for number, use in enumerate(uses)
    ]
    return {"blocks": blocks, "segment": 0}


def _read(path: str) -> tuple[str, Data]:
    return "Read", {"file_path": path}


def _bash(command: str, letter: str = "x") -> Data:
    return _uses(("Bash", {"command": command, "description": "d"}, letter))


def _states() -> Iterator[HostScript]:
    """CLI-1631: two or three requests that are open at once."""
    yield _script(
        "states-of-two-requests",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "permission 2"}, {"answer": "allow"},
         {"wait": "quiet"}, {"answer": "deny"}, {"wait": "result"}],
        env=STATES, files=FILES, permissions=["hold", "hold"],
        replies=[_uses(_read(OUTSIDE), _read(DEEPER)), _text("done")],
    )  # fmt: skip
    third = "{root}/outside/e/z.txt"
    yield _script(
        "states-of-interrupted-requests",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "permission 3"}, {"answer": "allow"},
         {"wait": "quiet"}, *_request(subtype="interrupt")],
        env=STATES, files={**FILES, "outside/e/z.txt": "z"}, permissions=["hold"] * 3,
        replies=[_uses(_read(OUTSIDE), _read(DEEPER), _read(third)), _text("done")],
    )  # fmt: skip


def _plan_mode() -> Iterator[HostScript]:
    """CLI-1634: plan mode reads everywhere, unless a rule asks."""
    globbed = ("Glob", {"pattern": "*", "path": "{root}/outside"}, "y")
    shown = ("Bash", {"command": "cat ../outside/x.txt", "description": "c"}, "z")
    yield _script(
        "plan-mode-reads-outside", [*INITIALIZE, *TURN], flags=["--permission-mode", "plan"],
        files=FILES, permissions=DENY,
        replies=[_uses(_read(OUTSIDE)), _uses(globbed), _uses(shown), _text("done")],
    )  # fmt: skip
    yield _script(
        "auto-mode-reads-outside", [*INITIALIZE, *TURN], flags=["--permission-mode", "auto"],
        files=FILES, permissions=DENY, replies=[_uses(_read(OUTSIDE)), _text("done")],
    )  # fmt: skip


def _servers() -> Iterator[HostScript]:
    """CLI-1632, CLI-1633, CLI-1637, CLI-1652: folders and servers that the host changes."""
    paths = ("{root}/outside", "{root}/missing", "{root}/project", "outside",
             "{root}/project/a.txt", "")  # fmt: skip
    moves = [step for path in paths for step in _request(subtype="set_cwd", path=path)]
    outside = {"subtype": "set_cwd", "path": "{root}/outside"}
    moves += _request(**outside, trusted="{root}/outside")
    moves += _request(**outside, trust="{root}/outside")
    yield _script(
        "set-cwd", [*INITIALIZE, *moves, *TURN], files={"project/a.txt": "x"},
        replies=[_text("One.")],
    )  # fmt: skip
    missing = {"subtype": "set_cwd", "path": "{root}/missing"}
    yield _script(
        "set-cwd-in-a-turn",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "permission"}, *_request(**missing),
         *_request(**outside), *_request(**outside, trust_accepted=True), {"answer": "allow"},
         {"wait": "result"}],
        files=FILES, permissions=["hold"], replies=[_bash("touch made"), _text("x")],
    )  # fmt: skip
    yield _script(
        "set-cwd-with-another-trusted-folder",
        [*INITIALIZE, *_request(**outside, trust_accepted=True),
         *_request(**outside, trust_accepted=True, trusted_directory="{root}/project")],
        files=FILES,
    )  # fmt: skip
    calc = {"serverName": "calc"}
    yield _script(
        "toggled-server-of-the-host",
        [*INITIALIZE,
         *_request(subtype="mcp_set_servers", servers={"calc": {"type": "sdk", "name": "calc"}}),
         *_request(subtype="mcp_reconnect", **calc),
         *_request(subtype="mcp_toggle", **calc, enabled=False),
         *_request(subtype="mcp_reconnect", **calc),
         *_request(subtype="mcp_toggle", **calc, enabled=True), *_request(subtype="mcp_status")],
    )  # fmt: skip
    small = {"serverName": "small"}
    yield _script(
        "toggled-program",
        [*INITIALIZE, *_request(subtype="mcp_toggle", **small, enabled=True),
         *_request(subtype="mcp_toggle", **small, enabled=False), *_request(subtype="mcp_status"),
         *_request(subtype="mcp_toggle", **small, enabled=True), *_request(subtype="mcp_status"),
         *_request(subtype="mcp_reconnect", **small)],
        files={"mcp.json": SERVER}, flags=["--mcp-config", "{root}/mcp.json"],
    )  # fmt: skip
    yield _script(
        "server-that-a-flag-leaves-out",
        [*INITIALIZE, *_request(subtype="mcp_reconnect", **small),
         *_request(subtype="mcp_toggle", **small, enabled=False), *_request(subtype="mcp_status")],
        files={"project/.mcp.json": SERVER}, flags=["--strict-mcp-config"],
    )  # fmt: skip


def _skills() -> Iterator[HostScript]:
    """CLI-1644: an unknown skill is refused before a permission is requested."""
    yield _script(
        "unknown-skill", [*INITIALIZE, *TURN], files=FILES, permissions=DENY,
        replies=[_uses(("Skill", {"skill": "no-such"})), _text("done")],
    )  # fmt: skip


def _subagents() -> Iterator[HostScript]:
    """CLI-1635: the note about tools in the result of a subagent."""
    read = ("Read", {"file_path": "{root}/project/a.txt"})
    scripts = {
        "note-of-a-new-tool": [_uses(("Bash", LIST, "m")), *_agent(1, ("Bash", LIST), read)],
        "note-of-the-second-agent": [*_agent(1, ("Bash", LIST)), *_agent(2, ("Bash", LIST))],
        "note-of-a-known-tool": [
            _uses(("Bash", {"command": "exit 2", "description": "d"}, "m")),
            *_agent(1, ("Bash", LIST)),
        ],
    }
    for name, replies in scripts.items():
        yield _script(
            name, [*INITIALIZE, *TURN], files={"project/a.txt": "one\n"},
            replies=[*replies, _text("done")],
        )  # fmt: skip


def _agent(number: int, *tools: tuple[str, Data]) -> list[Data]:
    """The start of a subagent and its replies: one for each tool, and a text."""
    own = {"segment": 0, "for": f"AGENT-{number}"}
    start = {
        "description": "w",
        "prompt": f"AGENT-{number} x",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    replies: list[Data] = [_uses(("Task", start, f"g{number}"))]
    for place, (name, given) in enumerate(tools):
        use = {"type": "tool_use", "id": f"t{number}{place}", "name": name, "input": given}
        replies.append({"blocks": [use], **own})
    return [*replies, {"blocks": [{"type": "text", "text": "It is."}], **own}]


def _prompts() -> Iterator[HostScript]:
    """CLI-1639, CLI-1640: synthetic prompts, and `initialize` while a turn runs."""
    mark = {"isSynthetic": True}
    replay = ["--replay-user-messages"]
    yield _script(
        "synthetic-prompt",
        [*INITIALIZE, {"prompt": "first", "fields": mark}, {"wait": "result"},
         {"prompt": "second"}, {"wait": "result"}],
        replies=[_text("one"), _text("two")], flags=replay,
    )  # fmt: skip
    yield _script(
        "synthetic-prompt-in-a-turn",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "permission"},
         {"prompt": "between", "fields": mark}, {"wait": "quiet"}, {"answer": "allow"},
         {"wait": "quiet"}],
        replies=[_bash("touch made"), _text("one"), _text("two")], flags=replay,
        permissions=["hold"],
    )  # fmt: skip
    yield _script(
        "first-initialize-in-a-turn",
        [{"prompt": "go"}, {"wait": "permission"}, *_request(subtype="initialize"),
         {"answer": "allow"}, {"wait": "result"}],
        replies=[_bash("touch made"), _text("one")], permissions=["hold"],
    )  # fmt: skip


def _priorities() -> Iterator[HostScript]:
    """CLI-1654: prompts of all priorities while a command runs."""
    allowed = ["--allowedTools", "Bash"]
    command = {"command": "touch started; sleep 5; echo some", "description": "d"}
    yield _script(
        "now-while-a-command-runs",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "file started"},
         {"prompt": "at once", "fields": {"priority": "now"}}, {"wait": "result"},
         {"wait": "quiet"}],
        replies=[_uses(("Bash", command, "a"), ("Bash", LIST, "b")), _text("one")], flags=allowed,
    )  # fmt: skip
    yield _script(
        "priorities-of-queued-prompts",
        [*INITIALIZE, {"prompt": "go"}, {"wait": "file started"},
         {"prompt": "last", "fields": {"priority": "later"}}, {"prompt": "third"},
         {"prompt": "first", "fields": {"priority": "now"}},
         {"prompt": "second", "fields": {"priority": "now"}}, {"wait": "result"},
         {"wait": "quiet"}],
        replies=[_uses(("Bash", command)), _text("one"), _text("two"), _text("three")],
        flags=allowed,
    )  # fmt: skip


def _models() -> Iterator[HostScript]:
    """CLI-1636, CLI-1642, CLI-1650, CLI-1653: models that are not listed or fail, and the fallback."""
    for model in ("opus[1m]", "claude-sonnet-4-5[1m]"):
        yield _script(
            f"model-{model.strip('[]1m')}-with-a-long-context", [*INITIALIZE, *TURN],
            flags=["--model", model], replies=[_text("done")],
        )  # fmt: skip
    for model in ("no-such-model", "opusplan"):
        yield _script(
            f"model-{model}",
            [*INITIALIZE, *_request(subtype="set_model", model=model), *TURN],
            replies=[_text("done")],
        )
    fails = [{"error": 404, "segment": 0, "retry_after": 0}] * 2
    yield _script(
        "model-not-found", [*INITIALIZE, *TURN, *TURN], replies=[*fails, _text("x")]
    )  # fmt: skip
    for status, count in ((529, 3), (404, 2)):
        fails = [{"error": status, "segment": 0, "retry_after": 0}] * count
        turns = [*TURN, *TURN] if status == 529 else TURN
        yield _script(
            f"fallback-model-after-{status}", [*INITIALIZE, *turns],
            flags=["--fallback-model", "haiku"], replies=[*fails, _text("x"), _text("y")],
        )  # fmt: skip


def _rules() -> Iterator[HostScript]:
    """CLI-1641, CLI-1651: a rule `ls:*` is an exact rule for `ls`; rules for loops and conditions."""
    commands = (
        "for i in 1 2; do echo $i; done", "if true; then touch a; fi", "{ npm a; npm b; }",
        "ls; if true; then npm x; fi",
    )  # fmt: skip
    yield _script(
        "loops-and-conditions", [*INITIALIZE, *TURN], files=FILES,
        permissions=["deny"] * len(commands),
        replies=[*(_bash(text, f"c{n}") for n, text in enumerate(commands)), _text("x")],
    )  # fmt: skip
    yield _script(
        "prefix-rule-for-the-whole-command", [*INITIALIZE, *TURN],
        flags=["--allowedTools", "Bash(./tool.sh:*)"],
        files={"project/tool.sh": "#!/bin/sh\necho ran\n"}, permissions=["deny"] * 3,
        replies=[_bash("./tool.sh"), _bash("./tool.sh a", "y"), _text("x")],
    )  # fmt: skip


def _flags() -> Iterator[HostScript]:
    """CLI-1646, CLI-1647: values that the CLI refuses, ignores or lists."""
    values = {
        "--session-id": "nonsense",
        "--max-budget-usd": "0",
        "--json-schema": '"text"',
        "--agents": "{nonsense",
        "--settings": "{root}/none.json",
        "--add-dir": "{root}/none",
        "--betas": "context-1m-2025-08-07",
    }
    for flag, value in values.items():
        yield _script(
            f"value-of-{flag.strip('-')}", [{"prompt": "go"}, {"wait": "quiet"}],
            flags=[flag, value], replies=[_text("one")],
        )  # fmt: skip


def _interrupts() -> Iterator[HostScript]:
    """An interrupt while a UserPromptSubmit callback is open, and the turn after it."""
    hooks = {"UserPromptSubmit": [{"hookCallbackIds": ["held"]}]}
    yield _script(
        "interrupt-in-the-prompt-hook",
        [{"request": {"subtype": "initialize", "hooks": hooks}}, {"wait": "answered"},
         {"prompt": "go"}, {"wait": "hook"}, *_request(subtype="interrupt"),
         {"prompt": "second"}, {"wait": "result"}],
        flags=["--replay-user-messages"], hooks={"held": ["hold", {}]}, replies=[_text("one")],
    )  # fmt: skip
