"""From options and a version to a command line and an initialize request."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.errors import OptionError
from fairlead.host.options.argv import (
    INITIALIZE_FIELDS,
    TOKEN_LIMIT,
    build,
    contents,
    initialize_fields,
)
from fairlead.host.options.flags import BASE, FLAGS, MANAGED, MANAGED_IN_INITIALIZE, SUBAGENT_FILE
from fairlead.host.options.groups import (
    AgentOptions,
    McpOptions,
    Plugins,
    SettingsSources,
    SystemPrompt,
    ToolRules,
)
from fairlead.host.options.options import EFFORTS, Options
from fairlead.host.options.switches import (
    Debug,
    SessionFlags,
    Stream,
    Tuning,
)
from fairlead.wire.versions import MEASURED, NEWEST_MEASURED, OLDEST, Version
from tests.host.flag_rows import TABLE
from tests.matrix import examples
from tests.wire.recorded import VERSIONS, scenario

DEFAULT = build(Options(), OLDEST)

STDIO = {"command": "python3", "args": ["-m", "server"], "env": {"A": "b"}}
HTTP = {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X": "y"}}


def tokens_for(flag: str, values: list[str]) -> list[str]:
    written = {"": flag, "=": f"{flag}="}
    return [written.get(value, f"{flag}={value}") for value in values]


def of_flag(tokens: tuple[str, ...], flag: str) -> list[str]:
    return [token for token in tokens if token.split("=", 1)[0] == flag]


def row_id(value: object) -> str | None:
    return value if isinstance(value, str) else None


rows = pytest.mark.parametrize(("flag", "options", "values", "since"), TABLE, ids=row_id)


@rows
def test_an_option_becomes_its_flag_on_every_version_that_has_it(
    flag: str, options: Options, values: list[str], since: int
) -> None:
    first = Version(2, 1, since)
    (until,) = {row.span.until for row in FLAGS if row.name == flag} or {None}
    for version in {first, *(item for item in MEASURED if item >= first), Version(3, 0, 0)}:
        if until is not None and version >= until:
            assert of_flag(build(options, version), flag) == []
            continue
        assert of_flag(build(options, version), flag) == tokens_for(flag, values)


@rows
def test_a_version_without_the_flag_is_recognized_before_it_fails(
    flag: str, options: Options, values: list[str], since: int
) -> None:
    (replaces,) = {item.instead for item in FLAGS if item.name == flag} or {False}
    for version in {Version(2, 1, since - 1), *MEASURED}:
        if replaces and version < Version(2, 1, since):
            assert of_flag(DEFAULT, flag) == []
        elif OLDEST <= version < Version(2, 1, since):
            with pytest.raises(OptionError, match=re.escape(f"CLI 2.1.{since} or later")):
                build(options, version)


def test_every_flag_of_the_table_is_tested() -> None:
    assert {flag.name for flag in FLAGS} <= {row[0] for row in TABLE}


def test_the_defaults_give_the_same_short_command_line_everywhere() -> None:
    assert DEFAULT == (
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--verbose",
        "--permission-prompt-tool=stdio",
        "--include-partial-messages",
        "--replay-user-messages",
        "--permission-mode=default",
    )
    assert {build(Options(), version) for version in MEASURED} == {DEFAULT}


def test_a_version_that_is_too_old_is_refused() -> None:
    with pytest.raises(OptionError, match=r"agent: is version 2\.1\.28.*2\.1\.29 or later"):
        build(Options(), Version(2, 1, 28))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_agrees_with_the_help_text_of_each_recorded_version(version: str) -> None:
    """rec VERSION/help: a flag is in it, or is hidden on purpose, or is not there yet."""
    text = "\n".join(
        entry.line.decode().rstrip("\n")
        for entry in scenario(version, "help")
        if entry.direction == "out"
    )
    shown = set(re.findall(r"(?m)^ {2}(?:-\w, )?(--[\w-]+)", text))
    here = Version.parse(version)
    assert here is not None
    claimed = {flag.name for flag in FLAGS if flag.known_by(here)}
    assert claimed - shown <= HIDDEN
    assert not {flag.name for flag in FLAGS if not flag.known_by(here)} & shown


HIDDEN = {
    "--permission-prompt-tool", "--max-turns", "--max-thinking-tokens", "--resume-session-at",
    "--resume-drops-turn", "--thinking", "--thinking-display", "--task-budget",
    "--append-subagent-system-prompt-file", "--managed-settings-in-initialize",
    "--await-initialize", "--session-mirror", "--managed-settings", "--project-config-root", "--plugin-dir-no-mcp",
    "--system-prompt-file", "--append-system-prompt-file", "--append-subagent-system-prompt",
}  # fmt: skip
"""Flags that the CLI takes but does not name in its help (SURFACE b)."""


def test_a_flag_of_ours_is_never_free_for_extra_flags() -> None:
    fixed = {token.split("=")[0] for token in BASE}
    assert {flag.name for flag in FLAGS} | fixed <= set(MANAGED)


# Servers


def test_servers_outside_this_process_go_by_flag_and_those_inside_do_not() -> None:
    options = Options(mcp_servers={"a": STDIO, "b": HTTP, "here": object()})
    assert of_flag(build(options, OLDEST, "/run/x"), "--mcp-config") == [
        "--mcp-config=/run/x/mcp-servers.json"
    ]
    (text,) = contents(options, OLDEST).values()
    assert json.loads(text) == {"mcpServers": {"a": STDIO, "b": HTTP}}


def test_servers_inside_this_process_are_only_named_in_initialize() -> None:
    options = Options(mcp_servers={"here": object()})
    assert build(options, OLDEST) == DEFAULT
    fields = initialize_fields(options, OLDEST, sdk_mcp_servers=("here",))
    assert fields == {"sdkMcpServers": ["here"]}


def test_configured_servers_precede_the_files() -> None:
    options = Options(mcp_servers={"a": STDIO}, mcp=McpOptions(config_files=["f.json"]))
    own, file = of_flag(build(options, OLDEST), "--mcp-config")
    assert own == "--mcp-config=private/mcp-servers.json"
    assert file == "--mcp-config=f.json"


# Length and bytes


def test_a_word_longer_than_the_kernel_takes_is_refused_with_a_way_out() -> None:
    fits = "x" * (TOKEN_LIMIT - len("--allowedTools="))
    tokens = build(Options(rules=ToolRules(allowed=[fits])), NEWEST_MEASURED)
    assert max(len(token.encode()) for token in tokens) == TOKEN_LIMIT
    with pytest.raises(OptionError, match="131,071 bytes"):
        build(Options(rules=ToolRules(allowed=[fits + "x"])), NEWEST_MEASURED)


def test_a_file_name_that_is_no_utf8_reaches_the_command_line() -> None:
    tokens = build(Options(add_dirs=["caf\udce9"]), OLDEST)
    assert of_flag(tokens, "--add-dir") == ["--add-dir=caf\udce9"]


# Structured output


@pytest.mark.parametrize("version", MEASURED[:3], ids=str)
def test_a_schema_on_a_cli_that_loops_needs_a_budget(version: Version) -> None:
    with pytest.raises(OptionError, match="needs max_budget_usd on"):
        build(Options(json_schema={"type": "object"}, max_turns=5), version)
    tokens = build(Options(json_schema={"type": "object"}, max_budget_usd=1), version)
    assert "--max-budget-usd=1.0" in tokens


@pytest.mark.parametrize("version", MEASURED[3:], ids=str)
def test_a_schema_needs_no_budget_elsewhere(version: Version) -> None:
    assert build(Options(json_schema={"type": "object"}), version) == DEFAULT


# initialize

AGENTS = {"helper": {"description": "helps", "prompt": "You help"}}

FIELDS: list[tuple[str, Options, Any, int]] = [
    ("systemPrompt", Options(prompt=SystemPrompt(text="- be brief")), "- be brief", 29),
    ("systemPrompt", Options(prompt=SystemPrompt(text="")), "", 29),
    ("appendSystemPrompt", Options(prompt=SystemPrompt(append="Rhyme.")), "Rhyme.", 29),
    ("planModeInstructions", Options(prompt=SystemPrompt(plan_mode_instructions="Ask")),
     "Ask", 118),
    ("agents", Options(agents=AgentOptions(definitions=AGENTS)), AGENTS, 29),
    ("jsonSchema", Options(json_schema={"type": "object"}), {"type": "object"}, 29),
    ("title", Options(title="Fix it"), "Fix it", 29),
    ("agentProgressSummaries", Options(agents=AgentOptions(progress_summaries=True)), True, 29),
    ("supportedDialogKinds", Options(stream=Stream(dialog_kinds=["a"]), on_dialog=print),
     ["a"], 29),
    ("perTaskStopAffordance", Options(agents=AgentOptions(interrupt_spares_tasks=True)),
     True, 246),
    ("managedSettings", Options(settings=SettingsSources(managed={"a": 1})), {"a": 1},
     MANAGED_IN_INITIALIZE),
    ("toolAliases", Options(extra_initialize={"toolAliases": {"a": "b"}}), {"a": "b"}, 29),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "value", "since"), FIELDS, ids=row_id)
def test_an_option_becomes_its_field_of_initialize(
    name: str, options: Options, value: Any, since: int
) -> None:
    for version in MEASURED:
        if version >= Version(2, 1, since):
            assert initialize_fields(options, version) == {name: value}
        elif name == "managedSettings":
            assert initialize_fields(options, version) == {}, "it goes by flag"
        else:
            with pytest.raises(OptionError, match=f"CLI 2.1.{since} or later"):
                initialize_fields(options, version)


def test_every_field_of_initialize_is_tested() -> None:
    assert {field.name for field in INITIALIZE_FIELDS} <= {row[0] for row in FIELDS}


def test_initialize_says_nothing_that_was_not_asked_for() -> None:
    assert {json.dumps(initialize_fields(Options(), version)) for version in MEASURED} == {"{}"}


def test_the_hosts_hooks_and_servers_are_passed_on() -> None:
    hooks = {"Stop": [{"hookCallbackIds": ["hook-0"], "timeout": 60.0}]}
    fields = initialize_fields(Options(), OLDEST, hooks=hooks, sdk_mcp_servers=["calc"])
    assert fields == {"hooks": hooks, "sdkMcpServers": ["calc"]}


@pytest.mark.parametrize("name", ["hooks", "sdkMcpServers", "subtype", "systemPrompt"])
def test_an_extra_field_may_not_replace_one_of_ours(name: str) -> None:
    with pytest.raises(OptionError, match=f"'{name}' belongs to another option"):
        initialize_fields(Options(extra_initialize={name: 1}), OLDEST)


def test_prompts_agents_and_schema_are_never_on_the_command_line() -> None:
    options = Options(
        prompt=SystemPrompt(text="secret plan", append="--yes"),
        agents=AgentOptions(definitions=AGENTS),
        json_schema={"type": "object"},
    )
    assert build(options, NEWEST_MEASURED) == DEFAULT
    assert contents(options, NEWEST_MEASURED) == {}


SECRET = "sk-canary-4711"

VISIBLE = {
    "--append-subagent-system-prompt": "versions before --append-subagent-system-prompt-file",
    "--managed-settings": "versions before --managed-settings-in-initialize",
}
"""Flags with a private value that some versions take in no other way, and which versions."""


def test_C35_no_secret_of_any_option_is_on_the_command_line() -> None:
    """Every option that can hold a free text or a configuration, on every version."""
    private = Options(
        prompt=SystemPrompt(text=SECRET, append=SECRET),
        agents=AgentOptions(definitions={"a": {"description": SECRET, "prompt": SECRET}}),
        json_schema={"description": SECRET},
        title=SECRET,
        max_budget_usd=1.0,
        settings=SettingsSources(value={"env": {"TOKEN": SECRET}, "apiKeyHelper": SECRET}),
        mcp_servers={
            "a": {"command": "x", "args": [SECRET], "env": {"TOKEN": SECRET}},
            "b": {**HTTP, "headers": {"Authorization": f"Bearer {SECRET}"}},
        },
        env={"TOKEN": SECRET},
        extra_initialize={"x": SECRET},
    )
    for version in MEASURED:
        assert SECRET not in " ".join(build(private, version))
    modern = Options(
        agents=AgentOptions(subagent_prompt=SECRET),
        settings=SettingsSources(managed={"env": {"TOKEN": SECRET}}),
    )
    assert SECRET not in " ".join(build(modern, NEWEST_MEASURED))
    assert SECRET in json.dumps(initialize_fields(modern, NEWEST_MEASURED))
    assert {row.name for row in FLAGS if row.span.until is not None} == set(VISIBLE)


# No text of the caller can be read as another flag

NASTY = st.sampled_from(
    ["--dangerously-skip-permissions", "-p", "--", "-", "=", "--x=--y", "a --model=b", "\n--x"]
)
TEXT = NASTY | st.text(max_size=20) | st.builds("".join, st.lists(NASTY, max_size=3))


def texts_everywhere(draw: st.DrawFn) -> dict[str, Any]:
    """One text for each option that becomes a flag value."""

    def one() -> str:
        return draw(TEXT)

    return {
        "resume": one(),
        "model": one(),
        "fallback_model": [one()],
        "add_dirs": [one(), one()],
        "debug_file": one(),
        "extra_flags": {"--x-new": one()},
        "rules": (ToolRules, {"allowed": [one()], "disallowed": [one()], "available": [one()]}),
        "session": (SessionFlags, {"name": one(), "worktree": one()}),
        "agents": (AgentOptions, {"agent": one(), "subagent_prompt": one()}),
        "settings": (SettingsSources, {"value": one(), "project_config_root": one()}),
        "mcp": (McpOptions, {"config_files": [one()], "permission_tool": one()}),
        "plugins": (Plugins, {"folders": [one()], "urls": [one()]}),
        "prompt": (SystemPrompt, {"file": one(), "append_file": one()}),
        "debug": (Debug, {"filter": one()}),
        "tuning": (Tuning, {"betas": [one()]}),
        "mcp_servers": {"a": {"command": one(), "args": [one()]}},
    }


def made_of(option: str, value: Any) -> dict[str, Any]:
    if isinstance(value, tuple):
        group, fields = value
        value = group(**fields)
    return {option: value}


def flags_of(option: str) -> set[str]:
    """The flags that an option or one of its group may become."""
    own = {flag.name for flag in FLAGS if flag.option.split(".")[0] == option}
    return own | {"extra_flags": {"--x-new"}, "mcp": {"--mcp-config"}}.get(option, set())


@settings(max_examples=examples(200))
@given(st.composite(texts_everywhere)())
def test_no_text_of_the_caller_becomes_another_flag(fields: dict[str, Any]) -> None:
    for option, value in fields.items():
        try:
            options = Options(**made_of(option, value))
        except OptionError:
            continue
        tokens = build(options, NEWEST_MEASURED)
        names = [token.split("=", 1)[0] for token in tokens]
        assert set(names) <= {*MANAGED, "--x-new"}, "every word begins with a flag of ours"
        request = set(names) - {token.split("=")[0] for token in DEFAULT}
        assert request <= flags_of(option), "and no other option's flag appears"
        assert not any(
            token.startswith("-", len(name) + 1) for token, name in zip(tokens, names, strict=True)
        ), "and no value begins with '-'"


@given(st.text(min_size=1, max_size=50))
def test_an_accepted_text_reaches_the_command_line_unchanged(text: str) -> None:
    try:
        options = Options(agents=AgentOptions(subagent_prompt=text))
    except OptionError:
        assert text.startswith("-") or not text.strip() or "\0" in text or has_half_character(text)
        return
    last = Version(2, 1, SUBAGENT_FILE - 1)
    (token,) = of_flag(build(options, last), "--append-subagent-system-prompt")
    # The CLIs read the name up to the first '=' and take the rest as it is.
    assert token.partition("=")[2] == text


def has_half_character(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


@pytest.mark.parametrize("effort", EFFORTS)
def test_every_effort_is_taken_by_the_newest_version(effort: Any) -> None:
    assert f"--effort={effort}" in build(Options(effort=effort), NEWEST_MEASURED)
