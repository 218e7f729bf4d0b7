"""The environment of the CLI: what it needs and what the caller adds, nothing by accident.

The CLI runs shell commands that a model writes, so every variable it has is one that a model
can read. A parent's variables therefore pass only by name, from the lists below. Markers that a
Claude Code around this program has left are taken out, or the child would think itself a part of
that session (and get the key to its socket). Pure: the parent's environment comes in as a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlead.host.options import Options

__all__ = ["NESTED_MARKERS", "child_environment"]

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
"""Settings of the CLI that do not bear its name. Most say what it must not do: dropping
DISABLE_TELEMETRY would switch telemetry on behind the user's back."""

PREFIXES = ("LC_", "XDG_", "ANTHROPIC_", "CLAUDE_")

CLOUD_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_", "GCLOUD_", "CLOUDSDK_", "CLOUD_ML_", "VERTEX_REGION_"),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_",),
}
"""A cloud's credentials pass only if the CLI is told to use that cloud."""

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
"""What a Claude Code around this program leaves in the environment. CLAUDE_CODE_ENTRYPOINT is
not set anew: the CLI finds a value of its own, and none is needed (TRUTH 1.1)."""

OFF = frozenset({"", "0", "false", "no", "off"})


def child_environment(parent: Mapping[str, str], options: Options) -> dict[str, str]:
    """All variables of the child, given those of this process.

    What the caller adds comes last and wins over everything.
    """
    if not options.inherit_env:
        parent = {}
    clouds = _clouds({**parent, **options.env})
    child = {name: value for name, value in parent.items() if _passes(name, clouds)}
    # The best sign of life there is, where a version has it (TRUTH 6).
    child["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"
    if options.file_checkpoints:
        child["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "1"
    return {**child, **options.env}


def _passes(name: str, clouds: tuple[str, ...]) -> bool:
    if name in NESTED_MARKERS:
        return False
    # Either all lower or all upper, as programs write them.
    proxy = name in PROXIES or (name.isupper() and name.lower() in PROXIES)
    return proxy or name in SYSTEM or name in CLI_SETTINGS or name.startswith(PREFIXES + clouds)


def _clouds(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        prefix
        for switch, prefixes in CLOUD_PREFIXES.items()
        if variables.get(switch, "").strip().lower() not in OFF
        for prefix in prefixes
    )
