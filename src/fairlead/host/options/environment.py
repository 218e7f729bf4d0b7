"""The environment of the CLI: the variables that it needs and those that the caller adds.

The CLI runs shell commands that a model writes, so the model can read every variable of the CLI.
Variables of the parent are therefore passed only if the lists below name them. Variables that
mark a session of Claude Code around this program are removed; otherwise the child would regard
itself as a part of that session (and get the key to its socket). Pure: the parent's environment
is passed in as a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairlead.wire.config_folder import VARIABLE as CONFIG_FOLDER

if TYPE_CHECKING:
    from fairlead.host.options.options import Options

__all__ = ["NESTED_MARKERS", "child_environment", "is_emulator", "shell_environment"]

SYSTEM = frozenset({
    "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
})  # fmt: skip

PROXIES = frozenset({"http_proxy", "https_proxy", "no_proxy", "all_proxy"})
"""In lower and in upper case."""

CLI_SETTINGS = frozenset({
    "API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH", "BASH_MAX_TIMEOUT_MS",
    "DISABLE_AUTOUPDATER", "DISABLE_AUTO_COMPACT", "DISABLE_BUG_COMMAND", "DISABLE_COST_WARNINGS",
    "DISABLE_ERROR_REPORTING", "DISABLE_INTERLEAVED_THINKING",
    "DISABLE_NON_ESSENTIAL_MODEL_CALLS", "DISABLE_PROMPT_CACHING", "DISABLE_TELEMETRY",
    "DO_NOT_TRACK", "IS_SANDBOX", "MAX_MCP_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "MCP_TIMEOUT",
    "MCP_TOOL_TIMEOUT",
})  # fmt: skip
"""Settings of the CLI without its prefix. Most disable something: dropping DISABLE_TELEMETRY would
enable telemetry without the user's knowledge."""

SHELL_PREFIXES = ("LC_", "XDG_")
PREFIXES = (*SHELL_PREFIXES, "ANTHROPIC_", "CLAUDE_")

CLOUD_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_", "GCLOUD_", "CLOUDSDK_", "CLOUD_ML_", "VERTEX_REGION_"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_",),
}
"""Credentials of a cloud are passed only if the CLI is configured to use that cloud."""

NESTED_MARKERS = frozenset({
    # Seen in the environment of tools, hooks and MCP servers of 2.1.38 to 2.1.325
    "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID", "CLAUDE_EFFORT", "CLAUDE_PID", "CLAUDE_PROJECT_DIR",
    # Given to some hooks and plugins, to terminals of an editor, and by the official SDKs
    "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_AGENT_SDK_CLIENT_APP", "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
})  # fmt: skip
"""Variables that a surrounding session of Claude Code sets. CLAUDE_CODE_ENTRYPOINT is not set
again: the CLI has its own default, and none is needed (CLI-107)."""

EMULATOR = frozenset({"FAIRLEAD_SCRIPT", "FAIRLEAD_EMULATE"})
"""Variables for Fairlead's own emulator; other CLIs do not get them."""

OFF = frozenset({"", "0", "false", "no", "off"})


def child_environment(parent: Mapping[str, str], options: Options) -> dict[str, str]:
    """All variables of the child, given those of this process.

    The variables that the caller adds come last and override all others.
    """
    all_variables = parent
    if not options.inherit_env:
        parent = {}
    clouds = _clouds({**parent, **options.env})
    emulator = EMULATOR if is_emulator(str(options.agent)) else frozenset()
    child = {
        name: value for name, value in parent.items() if _passes(name, clouds) or name in emulator
    }
    child |= {name: all_variables[name] for name in options.pass_env if name in all_variables}
    if not child.get(CONFIG_FOLDER, "").strip():
        # If it is empty, the CLI stores its settings and sessions in every working folder.
        child.pop(CONFIG_FOLDER, None)
    # The most exact report of activity, on versions that have it (CLI-525).
    child["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"
    if options.file_checkpoints:
        child["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
    return {**child, **options.env}


def shell_environment(parent: Mapping[str, str]) -> dict[str, str]:
    """The variables of a user's own shell: the system's, without keys and settings of the CLI."""
    allowed = {
        name: value
        for name, value in parent.items()
        if name in SYSTEM or _is_proxy(name) or name.startswith(SHELL_PREFIXES)
    }
    return {**allowed, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def is_emulator(agent: str) -> bool:
    """Whether an agent is Fairlead's own emulator, by its name."""
    return agent == "demo" or agent.rpartition("/")[2] == "fairlead-claude"


def _passes(name: str, clouds: tuple[str, ...]) -> bool:
    if name in NESTED_MARKERS:
        return False
    return (
        _is_proxy(name)
        or name in SYSTEM
        or name in CLI_SETTINGS
        or name.startswith(PREFIXES + clouds)
    )


def _is_proxy(name: str) -> bool:
    # Either all lower or all upper, as programs write them.
    return name in PROXIES or (name.isupper() and name.lower() in PROXIES)


def _clouds(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        prefix
        for switch, prefixes in CLOUD_PREFIXES.items()
        if variables.get(switch, "").strip().lower() not in OFF
        for prefix in prefixes
    )
