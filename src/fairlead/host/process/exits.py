"""Why a CLI ended: a sentence that explains its exit code and its last output, and what to do.

An end before the first result is a failure whatever its code, for several mistakes end a CLI
with 0 and no word at all (CLI-112). The texts are the CLIs' own, matched loosely; none of
this is needed to see *that* it failed.
"""

from __future__ import annotations

import re

__all__ = ["hint"]

_HINTS: tuple[tuple[str, str], ...] = (
    (
        r"unknown option '([^']+)'",
        "this CLI version does not know {0}. Take it out, or update Claude Code",
    ),
    (
        r"cannot be used with root/sudo",
        "permissions cannot be bypassed as root. Run as another user, or set IS_SANDBOX=1 "
        "inside a container",
    ),
    (
        r"Invalid API key",
        "the API key it uses is not accepted. Put a valid one into ANTHROPIC_API_KEY, or where "
        "apiKeyHelper in its settings takes it from",
    ),
    (
        r"Not logged in|Please run /login|authentication_failed",
        "it is not logged in. Run `claude` once and sign in, or set ANTHROPIC_API_KEY",
    ),
    (
        r"already in use",
        "this session id exists already. Resume it, or take a new id",
    ),
    (
        r"No conversation found",
        "there is no such session for this folder. Check the id and the cwd",
    ),
    (
        r"--session-id can only be used with",
        "a resumed session keeps its id. Leave `session_id` out, or set `fork`",
    ),
    (r"MCP config|mcp-config|mcpServers", "the MCP configuration is not valid"),
    (r"Invalid settings|settings\.json", "a settings file is not valid"),
    (
        r"Expected message type|Error parsing streaming input|Missing request",
        "it did not understand a line of ours; please report this as a bug of Fairlead",
    ),
    (r"env: .?node.?: No such file|node: not found", "Node.js is not on PATH"),
)

_SIGNALS = {
    -9: "it was killed, perhaps by the system for lack of memory",
    -15: "another process asked it to end (SIGTERM)",
    143: "another process asked it to end (SIGTERM)",
    -11: "it crashed",
    -6: "it crashed",
}


def hint(returncode: int | None, stderr: str, error: str = "", *, results: int = 0) -> str:
    """A sentence that explains the end of a CLI, as far as it is known.

    `error` is the text of its last result if that was an error: 2.1.38 reports there, and not on
    stderr, that a session cannot be resumed (CLI-703). `results` is how many it gave.
    """
    for pattern, words in _HINTS:
        match = re.search(pattern, f"{stderr}\n{error}")
        if match:
            return words.format(*match.groups())
    if returncode in _SIGNALS:
        return _SIGNALS[returncode]
    if error:
        return error
    if results:
        return "it ended in the middle of the session"
    if returncode == 0 and not stderr.strip():
        return (
            "it exited without output before answering. An MCP server without a name, a bad "
            "--mcp-config and an unknown --agent do that on old versions"
        )
    return "it ended before it answered"
