"""Options are checked when they are made: every wrong value is one clear error."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.errors import OptionError, UsageError
from fairlead.host.options import argv
from fairlead.host.options.groups import (
    AgentOptions,
    McpOptions,
    Plugins,
    SettingsSources,
    SystemPrompt,
    ToolRules,
)
from fairlead.host.options.options import CHECKS, GROUPS, PERMISSION_MODES, Options
from fairlead.host.options.switches import (
    Danger,
    Debug,
    Profile,
    SessionFlags,
    Stream,
    Thinking,
    Tuning,
)
from fairlead.host.process.process import Graces
from fairlead.wire.versions import Version
from tests.matrix import examples

ID = "550e8400-e29b-41d4-a716-446655440000"


def make(**fields: Any) -> Options:
    """Options of any values, right or wrong."""
    return Options(**fields)


def ignore(*_: object) -> None:
    """A handler."""


# Every row: what was given, the option to blame, a part of the text


WRONG_VALUES: list[tuple[dict[str, Any], str, str]] = [
    # Where and what
    ({"cwd": None}, "cwd", "takes a path, not None"),
    ({"cwd": 7}, "cwd", "takes a path, not a int"),
    ({"cwd": b"here"}, "cwd", "of bytes"),
    ({"cwd": ""}, "cwd", "is empty"),
    ({"cwd": "a\0b"}, "cwd", "NUL"),
    ({"cwd": "-x"}, "cwd", "Write ./-x instead"),
    ({"cwd": "a\ud800"}, "cwd", "half a character"),
    ({"agent": ""}, "agent", "is empty"),
    ({"agent": ["claude"]}, "agent", "takes a path, not a list"),
    ({"agent": "--version"}, "agent", "begins with '-'"),
    ({"env": [("A", "b")]}, "env", "takes a mapping"),
    ({"pass_env": "A"}, "pass_env", "takes a list"),
    ({"pass_env": ["A=B"]}, "pass_env[0]", "name of a variable"),
    ({"env": {"A": 1}}, "env['A']", "must be a string, not a int"),
    ({"env": {"A": None}}, "env['A']", "must be a string, not None"),
    ({"env": {1: "a"}}, "env", "cannot be the name of a variable"),
    ({"env": {"": "a"}}, "env", "cannot be the name of a variable"),
    ({"env": {"A=B": "a"}}, "env", "cannot be the name of a variable"),
    ({"env": {"A": "a\0"}}, "env", "NUL"),
    ({"inherit_env": "no"}, "inherit_env", "True or False"),
    ({"version": "newest"}, "version", "It looks like 2.1.325"),
    ({"version": 2.1}, "version", "takes a text"),
    # Conversation
    ({"resume": ""}, "resume", "is empty"),
    ({"resume": "  "}, "resume", "is empty"),
    ({"resume": "--fork-session"}, "resume", "begins with '-'"),
    ({"resume": 5}, "resume", "takes a text"),
    ({"resume": "a\0b"}, "resume", "NUL"),
    ({"continue_latest": 1}, "continue_latest", "True or False, not 1"),
    ({"fork": "yes", "resume": ID}, "fork", "True or False"),
    ({"session_id": "mine"}, "session_id", "is not a UUID"),
    ({"session_id": ID + "0"}, "session_id", "is not a UUID"),
    ({"session_id": ID + "\n"}, "session_id", "is not a UUID"),
    ({"session_id": ID.replace("-", "")}, "session_id", "is not a UUID"),
    ({"resume_at": "msg_1", "resume": ID}, "resume_at", "is not a UUID"),
    ({"title": 5}, "title", "takes a text"),
    # The model and its limits
    ({"model": "two words"}, "model", "space or a comma"),
    ({"model": ""}, "model", "is empty"),
    ({"model": "-opus"}, "model", "begins with '-'"),
    ({"model": ["opus"]}, "model", "takes a text, not a list"),
    ({"fallback_model": "a,b"}, "fallback_model", "space or a comma"),
    ({"fallback_model": ["a", ""]}, "fallback_model[1]", "is empty"),
    ({"fallback_model": 3}, "fallback_model", "takes a list"),
    ({"effort": "huge"}, "effort", "choose one of low, medium, high, xhigh, max"),
    ({"max_turns": 0}, "max_turns", "from 1 up, not 0"),
    ({"max_turns": -3}, "max_turns", "from 1 up"),
    ({"max_turns": True}, "max_turns", "from 1 up"),
    ({"max_turns": 2.0}, "max_turns", "from 1 up"),
    ({"max_turns": "3"}, "max_turns", "from 1 up"),
    ({"max_budget_usd": 0}, "max_budget_usd", "above 0, not 0"),
    ({"max_budget_usd": -1.5}, "max_budget_usd", "above 0"),
    ({"max_budget_usd": math.nan}, "max_budget_usd", "above 0"),
    ({"max_budget_usd": math.inf}, "max_budget_usd", "above 0"),
    ({"max_budget_usd": 10**400}, "max_budget_usd", "above 0"),
    ({"max_budget_usd": "5"}, "max_budget_usd", "above 0"),
    ({"json_schema": '{"type": "object"}'}, "json_schema", "takes a dict, not a str"),
    ({"json_schema": [1]}, "json_schema", "takes a dict"),
    ({"json_schema": {"x": {1, 2}}}, "json_schema", "cannot be written as JSON"),
    ({"json_schema": {"x": math.nan}}, "json_schema", "cannot be written as JSON"),
    # Who decides
    ({"permission_mode": "yolo"}, "permission_mode", ", ".join(PERMISSION_MODES)),
    ({"permission_mode": "Plan"}, "permission_mode", "choose one of plan, dontAsk, default"),
    ({"permission_mode": 1}, "permission_mode", "choose one of plan, dontAsk, default"),
    ({"permission_mode": ["plan"]}, "permission_mode", "choose one of plan, dontAsk, default"),
    ({"permission_mode": "delegate"}, "permission_mode", "Use 'default' instead"),
    ({"on_permission": "ask"}, "on_permission", "takes a function, not a str"),
    ({"on_question": {}}, "on_question", "takes a function"),
    ({"on_plan": 1}, "on_plan", "takes a function"),
    ({"on_elicitation": 1}, "on_elicitation", "takes a function"),
    ({"on_dialog": 1}, "on_dialog", "takes a function"),
    ({"on_stderr": "x"}, "on_stderr", "takes a function"),
    ({"hooks": {"Stop": ignore}}, "hooks", "takes a list, not a dict"),
    ({"hooks": [ignore]}, "hooks[0]", "Hook(…)"),
    # Tools
    ({"tools": ignore}, "tools", "takes a list"),
    ({"tools": [ignore]}, "tools[0]", "@tool"),
    ({"mcp_servers": ["a"]}, "mcp_servers", "takes a mapping of names"),
    ({"mcp_servers": {"a b": {"command": "x"}}}, "mcp_servers", "cannot be the name of a server"),
    ({"mcp_servers": {"": {"command": "x"}}}, "mcp_servers", "cannot be the name of a server"),
    ({"mcp_servers": {"a": "x.json"}}, "mcp_servers['a']", "config_files"),
    ({"mcp_servers": {"a": None}}, "mcp_servers['a']", "takes a dict or a server object"),
    ({"mcp_servers": {"a": {}}}, "mcp_servers['a']", "needs a 'command'"),
    ({"mcp_servers": {"a": {"command": ""}}}, "mcp_servers['a']", "needs a 'command'"),
    ({"mcp_servers": {"a": {"command": "x", "args": "-v"}}}, "mcp_servers['a']", "'args' takes"),
    ({"mcp_servers": {"a": {"command": "x", "args": [1]}}}, "mcp_servers['a']", "'args' takes"),
    ({"mcp_servers": {"a": {"command": "x", "env": {"A": 1}}}}, "mcp_servers['a']", "'env' takes"),
    ({"mcp_servers": {"a": {"type": "http"}}}, "mcp_servers['a']", "needs a 'url'"),
    (
        {"mcp_servers": {"a": {"type": "sse", "url": "u", "headers": []}}},
        "mcp_servers['a']",
        "'headers' takes",
    ),
    ({"mcp_servers": {"a": {"type": "sdk"}}}, "mcp_servers['a']", "Give the server object itself"),
    ({"mcp_servers": {"a": {"type": "ftp"}}}, "mcp_servers['a']", "not one of stdio, http, sse"),
    ({"project_programs": "ask"}, "project_programs", "refuse"),
    ({"mcp_servers": {"a": {"command": "x", "y": {1}}}}, "mcp_servers['a']", "as JSON"),
    ({"add_dirs": "src"}, "add_dirs", "Put it in [ ]"),
    ({"add_dirs": ["ok", "-rf"]}, "add_dirs[1]", "Write ./-rf"),
    # Messages, checkpoints, logs
    ({"partial_messages": None}, "partial_messages", "True or False"),
    ({"replay_user_messages": 0}, "replay_user_messages", "True or False"),
    ({"file_checkpoints": 1}, "file_checkpoints", "True or False"),
    ({"record": 1}, "record", "takes a path"),
    ({"debug_file": "-"}, "debug_file", "begins with '-'"),
    # Bounds
    ({"reader_limit": 0}, "reader_limit", "from 1 up"),
    ({"line_limit": 1.5}, "line_limit", "from 1 up"),
    ({"control_timeout": 0}, "control_timeout", "above 0"),
    ({"start_timeout": math.inf}, "start_timeout", "above 0"),
    ({"graces": 5}, "graces", "takes Graces(…), not a int"),
    ({"graces": Graces(after_eof=-1)}, "graces.after_eof", "from 0 up"),
    # Groups
    ({"prompt": "You are a pirate"}, "prompt", "takes SystemPrompt(…), not a str"),
    ({"rules": ["Read"]}, "rules", "takes ToolRules(…)"),
    ({"danger": True}, "danger", "takes Danger(…)"),
    # Flags and fields without an option
    ({"extra_flags": ["--x"]}, "extra_flags", "takes a mapping"),
    ({"extra_flags": {"x": None}}, "extra_flags", "Write it as --flag"),
    ({"extra_flags": {"--x=1": None}}, "extra_flags", "is not a flag"),
    ({"extra_flags": {"-x": None}}, "extra_flags", "is not a flag"),
    ({"extra_flags": {"--x y": None}}, "extra_flags", "is not a flag"),
    ({"extra_flags": {"--model": "opus"}}, "extra_flags", "Use model"),
    ({"extra_flags": {"--verbose": None}}, "extra_flags", "always passed"),
    ({"extra_flags": {"--dangerously-skip-permissions": None}}, "extra_flags", "Use danger."),
    ({"extra_flags": {"--x": "-y"}}, "extra_flags['--x']", "begins with '-'"),
    ({"extra_flags": {"--x": 1}}, "extra_flags['--x']", "takes a text"),
    ({"extra_initialize": "x"}, "extra_initialize", "takes a dict"),
    ({"extra_initialize": {"x": object()}}, "extra_initialize", "as JSON"),
]

CONTRADICTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"fork": True}, "fork", "Give resume or continue_latest"),
    ({"resume": ID, "continue_latest": True}, "continue_latest", "together with resume"),
    ({"resume": ID, "session_id": ID}, "session_id", "Add fork=True"),
    ({"continue_latest": True, "session_id": ID}, "session_id", "Add fork=True"),
    ({"resume": ID, "session": SessionFlags(from_pr="7")}, "session.from_pr", "with resume"),
    ({"resume_at": ID}, "resume_at", "needs resume"),
    ({"resume_at": ID, "continue_latest": True}, "resume_at", "needs resume"),
    (
        {"resume": ID, "session": SessionFlags(resume_drops_turn=ID)},
        "session.resume_drops_turn",
        "needs resume_at",
    ),
    ({"model": "opus", "fallback_model": "opus"}, "fallback_model", "is the model itself"),
    ({"model": "opus", "fallback_model": ["a", "opus"]}, "fallback_model", "is the model itself"),
    (
        {"danger": Danger(skip_permissions=True), "permission_mode": "plan"},
        "permission_mode",
        "contradicts danger.skip_permissions",
    ),
    (
        {"danger": Danger(skip_permissions=True), "profile": Profile(restricted=True)},
        "profile.restricted",
        "cannot be combined with a bypass",
    ),
    (
        {"permission_mode": "bypassPermissions", "profile": Profile(restricted=True)},
        "profile.restricted",
        "cannot be combined with a bypass",
    ),
    (
        {"mcp": McpOptions(permission_tool="mcp__a__b"), "on_permission": ignore},
        "on_permission",
        "would never be called",
    ),
    (
        {"mcp": McpOptions(permission_tool="mcp__a__b"), "on_plan": ignore},
        "on_plan",
        "would never be called",
    ),
    ({"stream": Stream(dialog_kinds=["x"])}, "stream.dialog_kinds", "needs on_dialog"),
]

WRONG_GROUPS: list[tuple[Any, dict[str, Any], str, str]] = [
    (SystemPrompt, {"text": 1}, "prompt.text", "takes a text"),
    (SystemPrompt, {"text": "\ud800"}, "prompt.text", "half a character"),
    (SystemPrompt, {"append": b"x"}, "prompt.append", "takes a text"),
    (SystemPrompt, {"file": "-f"}, "prompt.file", "begins with '-'"),
    (SystemPrompt, {"text": "a", "file": "b"}, "prompt.file", "together with text"),
    (SystemPrompt, {"append": "", "append_file": "b"}, "prompt.append_file", "with append"),
    (SystemPrompt, {"snapshot": "on"}, "prompt.snapshot", "True or False"),
    (SystemPrompt, {"plan_mode_instructions": 1}, "prompt.plan_mode_instructions", "a text"),
    (SystemPrompt, {"exclude_dynamic_sections": 1}, "prompt.exclude_dynamic_sections", "True"),
    (ToolRules, {"available": "Read"}, "rules.available", "Put it in [ ]"),
    (ToolRules, {"available": ["Read,Bash"]}, "rules.available[0]", "space or a comma"),
    (
        ToolRules,
        {"allowed": ["Read", "Edit Write"]},
        "rules.allowed[1]",
        "would split 'Edit Write' at ' '",
    ),
    (ToolRules, {"allowed": ["Read,Write"]}, "rules.allowed[0]", "would split 'Read,Write' at ','"),
    (ToolRules, {"allowed": ["Bash(echo (a) b)"]}, "rules.allowed[0]", "settings file"),
    (ToolRules, {"allowed": ["Bash(echo"]}, "rules.allowed[0]", "not closed"),
    (ToolRules, {"disallowed": ["-Read"]}, "rules.disallowed[0]", "begins with '-'"),
    (ToolRules, {"disallowed": [""]}, "rules.disallowed[0]", "is empty"),
    (ToolRules, {"prompts": "nobody"}, "rules.prompts", "choose one of host, none"),
    (SettingsSources, {"sources": ["user", "global"]}, "settings.sources[1]", "choose one of user"),
    (SettingsSources, {"value": "{nonsense"}, "settings.value", "is not JSON"),
    (SettingsSources, {"value": "{}x"}, "settings.value", "is not JSON"),
    (SettingsSources, {"value": 5}, "settings.value", "takes a path"),
    (SettingsSources, {"value": {"a": {1}}}, "settings.value", "as JSON"),
    (SettingsSources, {"managed": "x"}, "settings.managed", "takes a dict"),
    (SettingsSources, {"project_config_root": ""}, "settings.project_config_root", "is empty"),
    (SettingsSources, {"project_config_root": "a"}, "settings.project_config_root", "full path"),
    (McpOptions, {"config_files": "a.json"}, "mcp.config_files", "Put it in [ ]"),
    (McpOptions, {"config_files": ["-a"]}, "mcp.config_files[0]", "begins with '-'"),
    (McpOptions, {"strict": "yes"}, "mcp.strict", "True or False"),
    (McpOptions, {"permission_tool": "a b"}, "mcp.permission_tool", "space or a comma"),
    (McpOptions, {"permission_tool": "stdio"}, "mcp.permission_tool", "Leave it out"),
    (Thinking, {"max_tokens": 0}, "thinking.max_tokens", "from 1 up"),
    (Thinking, {"mode": "hard"}, "thinking.mode", "enabled, adaptive, disabled"),
    (Thinking, {"display": "all"}, "thinking.display", "summarized, omitted, highlights"),
    (Thinking, {"mode": "disabled", "max_tokens": 5}, "thinking.max_tokens", "Choose one"),
    (SessionFlags, {"persist": None}, "session.persist", "True or False"),
    (SessionFlags, {"resume_drops_turn": "x"}, "session.resume_drops_turn", "not a UUID"),
    (SessionFlags, {"from_pr": "-1"}, "session.from_pr", "begins with '-'"),
    (SessionFlags, {"name": ""}, "session.name", "is empty"),
    (SessionFlags, {"worktree": "a b"}, "session.worktree", "space or a comma"),
    (SessionFlags, {"worktree": None}, "session.worktree", "takes a text"),
    (SessionFlags, {"mirror": 1}, "session.mirror", "True or False"),
    (AgentOptions, {"agent": "-a"}, "agents.agent", "begins with '-'"),
    (AgentOptions, {"definitions": ["a"]}, "agents.definitions", "takes a dict"),
    (AgentOptions, {"definitions": {"a": "b"}}, "agents.definitions['a']", "takes a dict with"),
    (
        AgentOptions,
        {"definitions": {"a": {"prompt": "p"}}},
        "agents.definitions['a']",
        "needs a description",
    ),
    (
        AgentOptions,
        {"definitions": {"a": {"description": "d", "prompt": ""}}},
        "agents.definitions['a']",
        "needs a prompt",
    ),
    (AgentOptions, {"definitions": {"a b": {}}}, "agents.definitions name", "space or a comma"),
    (AgentOptions, {"subagent_prompt": "- be kind"}, "agents.subagent_prompt", "begins with"),
    (AgentOptions, {"progress_summaries": 1}, "agents.progress_summaries", "True or False"),
    (Plugins, {"folders": "x"}, "plugins.folders", "Put it in [ ]"),
    (Plugins, {"folders_without_mcp": [1]}, "plugins.folders_without_mcp[0]", "takes a path"),
    (Plugins, {"urls": ["a b"]}, "plugins.urls[0]", "space or a comma"),
    (Profile, {"bare": 1}, "profile.bare", "True or False"),
    (Profile, {"chrome": "on"}, "profile.chrome", "True or False"),
    (Stream, {"hook_events": 1}, "stream.hook_events", "True or False"),
    (Stream, {"dialog_kinds": "x"}, "stream.dialog_kinds", "Put it in [ ]"),
    (Tuning, {"betas": ["a,b"]}, "tuning.betas[0]", "space or a comma"),
    (Tuning, {"task_budget": 0}, "tuning.task_budget", "from 1 up"),
    (Tuning, {"autocompact": 5}, "tuning.autocompact", "100,000 to 1,000,000"),
    (Debug, {"enabled": "api"}, "debug.enabled", "True or False"),
    (Debug, {"filter": "-api"}, "debug.filter", "begins with '-'"),
    (Danger, {"skip_permissions": 1}, "danger.skip_permissions", "True or False"),
    (Danger, {"allow_skip": None}, "danger.allow_skip", "True or False"),
]


def row_id(value: object) -> str | None:
    return value if isinstance(value, str) else None


@pytest.mark.parametrize(("fields", "option", "text"), WRONG_VALUES, ids=row_id)
def test_a_wrong_value_is_refused_by_name(fields: dict[str, Any], option: str, text: str) -> None:
    with pytest.raises(OptionError) as refusal:
        make(**fields)
    assert refusal.value.option == option
    assert text in str(refusal.value)


@pytest.mark.parametrize(("fields", "option", "text"), CONTRADICTIONS, ids=row_id)
def test_conflicting_options_are_refused(fields: dict[str, Any], option: str, text: str) -> None:
    with pytest.raises(OptionError) as refusal:
        make(**fields)
    assert refusal.value.option == option
    assert text in str(refusal.value)


@pytest.mark.parametrize(("group", "fields", "option", "text"), WRONG_GROUPS, ids=row_id)
def test_a_wrong_value_in_a_group_is_refused_where_it_is_written(
    group: Any, fields: dict[str, Any], option: str, text: str
) -> None:
    with pytest.raises(OptionError) as refusal:
        group(**fields)
    assert refusal.value.option == option
    assert text in str(refusal.value)


def test_every_option_has_a_check() -> None:
    assert {field.name for field in dataclasses.fields(Options)} == set(CHECKS) | set(GROUPS)


def test_every_option_has_a_row_of_wrong_values() -> None:
    blamed = {option.split("[")[0].split(".")[0] for _, option, _ in WRONG_VALUES}
    assert blamed >= set(CHECKS)
    groups = {option.split(".")[0] for _, _, option, _ in WRONG_GROUPS}
    assert groups == set(GROUPS) - {"graces"}


def test_an_option_error_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError):
        make(max_turns=0)


def test_a_secret_of_the_environment_is_in_no_error_and_no_printed_options() -> None:
    with pytest.raises(OptionError) as refusal:
        make(env={"TOKEN": "hunter2\0"})
    assert "hunter2" not in str(refusal.value)
    assert "hunter2" not in repr(Options(env={"TOKEN": "hunter2"}))


def test_the_defaults_are_those_of_the_documentation() -> None:
    options = Options()
    assert options.partial_messages
    assert options.replay_user_messages
    assert options.permission_mode == "default"
    assert options.agent == "claude"
    assert options.reader_limit == 256 * 1024 * 1024
    assert options.line_limit == 64 * 1024 * 1024
    assert (options.control_timeout, options.start_timeout) == (60.0, 60.0)


@pytest.mark.parametrize("mode", PERMISSION_MODES)
def test_every_permission_mode_is_taken(mode: Any) -> None:
    assert Options(permission_mode=mode).permission_mode == mode


def test_manual_is_another_word_for_default() -> None:
    assert Options(permission_mode="manual").permission_mode == "default"


def test_a_resumed_session_may_be_named_by_its_title() -> None:
    assert Options(resume="Fix the parser").resume == "Fix the parser"


def test_a_fork_may_choose_its_own_id() -> None:
    assert Options(resume=ID, fork=True, session_id=ID).session_id == ID


def test_lists_are_kept_as_tuples_and_paths_as_texts() -> None:
    options = Options(cwd=Path("a"), add_dirs=[Path("b"), "c"], fallback_model="x", tools=[])
    assert (options.cwd, options.add_dirs, options.fallback_model) == ("a", ("b", "c"), ("x",))
    assert options.tools == ()


def test_what_the_caller_changes_afterwards_does_not_reach_the_options() -> None:
    variables = {"A": "1"}
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    options = Options(env=variables, json_schema=schema)
    variables["A"] = "2"
    schema["properties"]["x"] = {}
    assert options.env == {"A": "1"}
    assert options.json_schema == {"type": "object", "properties": {}}


def test_options_can_be_replaced_but_not_changed() -> None:
    options = Options(model="opus", fallback_model=["a"], env={"A": "b"})
    again = dataclasses.replace(options, resume=ID)
    assert (again.model, again.fallback_model, again.resume) == ("opus", ("a",), ID)
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.model = "x"  # type: ignore[misc]
    with pytest.raises(OptionError):
        dataclasses.replace(options, max_turns=0)


def test_any_mapping_will_do_for_a_schema() -> None:
    schema = MappingProxyType({"type": "object", "properties": MappingProxyType({})})
    assert Options(json_schema=schema).json_schema == {"type": "object", "properties": {}}


def test_settings_may_be_given_as_json_text() -> None:
    assert SettingsSources(value=' {"env": {}}').value == {"env": {}}


def test_a_server_object_passes_unchecked() -> None:
    server = object()
    assert Options(mcp_servers={"calc": server}).mcp_servers["calc"] is server


@pytest.mark.parametrize(
    "rule", ["Read", "Bash(npm run *)", 'Bash(echo "a, b" c)', "mcp__a__b", "Read(//x y/**)"]
)
def test_a_rule_with_blanks_and_commas_in_its_parentheses_is_one_rule(rule: str) -> None:
    assert ToolRules(allowed=[rule]).allowed == (rule,)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=5,
)


@settings(max_examples=examples(400))
@given(option=st.sampled_from(sorted({*CHECKS, *GROUPS})), value=ANYTHING)
def test_any_value_at_all_is_taken_or_refused_with_an_option_error(
    option: str, value: object
) -> None:
    try:
        options = make(**{option: value})
    except OptionError:
        return
    assert dataclasses.replace(options) == options, "and what is taken, is taken again"


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    options = Options(cwd="~", add_dirs=["~/more"], record="~/record.jsonl")
    assert options.cwd == str(tmp_path)
    assert options.add_dirs == (f"{tmp_path}/more",)
    assert options.record == f"{tmp_path}/record.jsonl"
    assert Options(cwd="./~").cwd == "./~"


@pytest.mark.parametrize("version", ["2.1.38", "2.1.120", "2.1.325"])
def test_extra_lines_are_left_out_where_the_version_has_none(version: str) -> None:
    parsed = Version.parse(version)
    assert parsed is not None
    stream = Stream(hook_events=True, prompt_suggestions=True, where_known=True)
    flags = argv.build(Options(stream=stream), parsed)
    assert ("--include-hook-events" in flags) == (version != "2.1.38")
    assert ("--prompt-suggestions=true" in flags) == (version == "2.1.325")
    if version != "2.1.325":
        with pytest.raises(OptionError, match=r"needs CLI 2\.1"):
            argv.build(Options(stream=Stream(hook_events=True, prompt_suggestions=True)), parsed)
