"""The command line of the CLI, parsed as the real one parses it: an unknown flag is an error.

Pure: takes the arguments and returns `Arguments`, or raises `BadFlags` with the text for stderr.
Which flags a version knows, and how many values each takes, is the table below; what they mean is
decided elsewhere. A positional prompt is taken and ignored (CLI-104).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from fairlead.emulator.state.profile import Profile

__all__ = ["Arguments", "BadFlags", "read_flags"]

SWITCH, ONE, MAYBE, MANY = "switch", "one", "maybe", "many"

_BOTH = {
    "--print": SWITCH, "--verbose": SWITCH, "--continue": SWITCH, "--fork-session": SWITCH,
    "--include-partial-messages": SWITCH, "--replay-user-messages": SWITCH,
    "--no-session-persistence": SWITCH, "--strict-mcp-config": SWITCH,
    "--dangerously-skip-permissions": SWITCH, "--allow-dangerously-skip-permissions": SWITCH,
    "--disable-slash-commands": SWITCH, "--ide": SWITCH, "--chrome": SWITCH, "--no-chrome": SWITCH,
    "--mcp-debug": SWITCH, "--version": SWITCH, "--help": SWITCH,
    "--output-format": ONE, "--input-format": ONE, "--permission-prompt-tool": ONE,
    "--permission-mode": ONE, "--model": ONE, "--fallback-model": ONE, "--session-id": ONE,
    "--resume-session-at": ONE, "--max-turns": ONE, "--max-budget-usd": ONE,
    "--max-thinking-tokens": ONE, "--json-schema": ONE, "--settings": ONE,
    "--setting-sources": ONE, "--system-prompt": ONE, "--append-system-prompt": ONE,
    "--system-prompt-file": ONE, "--append-system-prompt-file": ONE, "--agent": ONE,
    "--agents": ONE, "--debug-file": ONE, "--effort": ONE,
    "--resume": MAYBE, "--debug": MAYBE, "--from-pr": MAYBE,
    "--allowedTools": MANY, "--disallowedTools": MANY, "--tools": MANY, "--add-dir": MANY,
    "--mcp-config": MANY, "--betas": MANY, "--plugin-dir": MANY, "--file": MANY,
}  # fmt: skip

_NEW = {
    "--include-hook-events": SWITCH, "--forward-subagent-text": SWITCH, "--bare": SWITCH,
    "--safe-mode": SWITCH, "--restricted": SWITCH, "--brief": SWITCH, "--session-mirror": SWITCH,
    "--exclude-dynamic-system-prompt-sections": SWITCH, "--bg": SWITCH,
    "--permission-prompts": ONE, "--prompt-suggestions": MAYBE, "--name": ONE, "--thinking": ONE,
    "--thinking-display": ONE, "--task-budget": ONE, "--autocompact": ONE,
    "--system-prompt-snapshot": ONE, "--append-subagent-system-prompt": ONE,
    "--append-subagent-system-prompt-file": ONE, "--managed-settings-in-initialize": SWITCH,
    "--await-initialize": SWITCH,
    "--managed-settings": ONE, "--project-config-root": ONE, "--resume-drops-turn": ONE,
    "--plan-mode-instructions": ONE, "--worktree": MAYBE, "--teleport": MAYBE, "--tmux": MAYBE,
    "--plugin-dir-no-mcp": MANY, "--plugin-url": MANY,
}  # fmt: skip
"""Known to 2.1.325 and not to 2.1.38."""

_SHORT = {
    "-p": "--print",
    "-c": "--continue",
    "-r": "--resume",
    "-d": "--debug",
    "-v": "--version",
    "-h": "--help",
    "-w": "--worktree",
    "--allowed-tools": "--allowedTools",
    "--disallowed-tools": "--disallowedTools",
}


class BadFlags(Exception):
    """The command line cannot be used; the text is for stderr."""


class Arguments(Struct, frozen=True):
    """The values of the command line, by the long name of each flag."""

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prompt: str | None = None

    def has(self, flag: str) -> bool:
        return flag in self.values

    def one(self, flag: str) -> str | None:
        """The last value of a flag; None if it is absent or has no value."""
        given = self.values.get(flag)
        return given[-1] if given else None

    def many(self, flag: str) -> tuple[str, ...]:
        return self.values.get(flag, ())

    def listed(self, flag: str) -> tuple[str, ...]:
        """Names or rules in one list, split at commas outside parentheses."""
        return tuple(part for value in self.many(flag) for part in _split(value))

    @property
    def speaks_json(self) -> bool:
        return self.one("--input-format") == "stream-json"


def read_flags(given: Sequence[str], profile: Profile) -> Arguments:
    """The arguments of a command line that this version takes."""
    known = {**_BOTH, **(_NEW if profile.takes_added_flags else {})}
    values: dict[str, tuple[str, ...]] = {}
    prompt: str | None = None
    rest = list(given)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-") or argument == "-":
            prompt = argument
            continue
        name, has_value, value = argument.partition("=")
        flag = _SHORT.get(name, name)
        if flag not in known:
            raise BadFlags(f"error: unknown option '{name}'")
        taken = _take(known[flag], value if has_value else None, rest)
        if taken is None:
            raise BadFlags(f"error: option '{flag} <value>' argument missing")
        values[flag] = values.get(flag, ()) + taken
    arguments = Arguments(values, prompt)
    _check(arguments, profile)
    return arguments


def _take(kind: str, attached: str | None, rest: list[str]) -> tuple[str, ...] | None:
    if kind == SWITCH:
        return ()
    if attached is not None:
        return (attached,)
    if kind == ONE:
        return (rest.pop(0),) if rest else None
    taken: list[str] = []
    while rest and not rest[0].startswith("-") and (kind == MANY or not taken):
        taken.append(rest.pop(0))
    return tuple(taken) if taken or kind == MAYBE else None


def _check(arguments: Arguments, profile: Profile) -> None:
    mode = arguments.one("--permission-mode")
    allowed = (*profile.modes, "default") if profile.takes_default_mode_flag else profile.modes
    if mode is not None and mode not in allowed:
        choices = ", ".join(profile.modes)
        raise BadFlags(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. "
            f"Allowed choices are {choices}."
        )
    if arguments.has("--version") or arguments.has("--help"):
        return
    output = arguments.one("--output-format")
    if arguments.speaks_json and output != "stream-json":
        raise BadFlags("Error: --input-format=stream-json requires output-format=stream-json.")
    if arguments.has("--replay-user-messages") and not (
        arguments.speaks_json and output == "stream-json"
    ):
        raise BadFlags(
            "Error: --replay-user-messages requires both --input-format=stream-json "
            "and --output-format=stream-json."
        )
    if output == "stream-json" and not arguments.has("--verbose"):
        raise BadFlags("Error: When using --print, --output-format=stream-json requires --verbose")
    resumes = arguments.has("--resume") or arguments.has("--continue")
    if resumes and arguments.has("--session-id") and not arguments.has("--fork-session"):
        raise BadFlags(
            "Error: --session-id can only be used with --continue or --resume "
            "if --fork-session is also specified."
        )


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char in ", " and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part for part in parts if part]
