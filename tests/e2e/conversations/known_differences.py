"""Where the emulator is known to differ from the real CLI, in words.

Each entry recognizes a difference by the changed lines of its diff. A script whose difference no entry
recognizes makes the differential fail: fix the emulator, or say here why it does not follow the CLI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.e2e.conversations.comparison import signature
from tests.e2e.conversations.verdict import Verdict

__all__ = ["KNOWN", "Known", "known_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A known difference."""

    words: str
    """What differs and why, for the document."""
    only: str
    """Every changed line of the diff must match this."""
    has: str = ""
    """At least one changed line must match this."""
    script: str = ""
    """The script, as JSON, must contain this."""
    versions: tuple[str, ...] = ("2.1.38", "2.1.325")

    def explains(self, verdict: Verdict) -> bool:
        lines = signature(verdict.diff)
        return (
            verdict.version in self.versions
            and all(re.fullmatch(self.only, line) for line in lines)
            and any(re.search(self.has, line) for line in lines)
            and self.script in str(verdict.script.to_json())
        )


STREAM = r"[-+] stream_event/(content_block_(start|stop|delta)|message_(delta|stop))"
TOOL = (
    r"[-+] (control_request/(can_use_tool|hook_callback)|user/tool_result|user/text"
    r"|system/(permission_denied|informational|status|notification)|assistant/(text|tool_use))"
)
PATH = r"[-+] \.\S+: .*"
ANY = r"(?s).*"

KNOWN: tuple[Known, ...] = (
    Known(
        words="A tool that starts during a message writes a line one or two stream events earlier or "
        "later. The time that a tool needs decides, and the CLI itself varies.",
        only=f"{STREAM}|{TOOL}",
        has="stream_event",
        versions=("2.1.325",),
    ),
    Known(
        words="Tools or subagents that run side by side: the order of their lines depends on how long "
        "each of them takes.",
        only=r"[-+] (user/tool_result|assistant/tool_use|control_request/can_use_tool|user/text"
        r"|system/task_\w+)",
        has="tool_result|tool_use|task_",
    ),
    Known(
        words="The host wrote several lines together, or a line right after a result: they are read "
        "earlier or later relative to the end of the turn. The CLI itself varies.",
        only=r"[-+] (command_lifecycle/\w+|control_response/\w+(/replay)?|user(/replay)?(/text)*"
        r"|system/init|system/session_state_changed/\w+)",
        has="command_lifecycle|control_response/success",
    ),
    Known(
        words="Prompts written at once: how many of them become one turn depends on when they are read.",
        only=ANY,
        has=r"command_lifecycle/|system/init|result/",
        script="and more",
    ),
    Known(
        words="The real CLI did not finish within the time limit of the comparison.",
        only=ANY,
        has=r"^- \{\"_timeout",
    ),
    Known(
        words="A server of the host that fails at its handshake: how often and when the CLI repeats the "
        "handshake of the other servers, and whether `mcp_status` lists it.",
        only=rf"[-+] (control_(request|response)/\w+|command_lifecycle/\w+)|~ control_response/.*|{PATH}",
        script="refusing",
    ),
    Known(
        words="A subagent next to another one: the line of its tool use is written before the result of "
        "the other, and the CLI writes it after.",
        only=rf"[-+] (assistant/tool_use|user/tool_result|user/text)|~ user/tool_result|{PATH}",
        has="assistant/tool_use",
        script="AGENT-",
    ),
    Known(
        words="2.1.38 answers `mcp_toggle` and `mcp_reconnect` of a server that the settings disable, "
        "or that --strict-mcp-config leaves out, with success.",
        only=r"[-+] control_response/\w+",
        has="control_response/error",
        versions=("2.1.38",),
    ),
    Known(
        words="Rules: the permission policy that the emulator uses is stricter than the CLI in a few "
        "combinations, such as `Write(a.txt)` for an edit of that file, or a new file where `Read` is "
        "denied.",
        only=rf"[-+] (control_(request|response)/\w+|user/tool_result|system/permission_denied)"
        rf"|~ (user/tool_result|result/success)|{PATH}",
        has="can_use_tool|permission_denied|permission_decision",
    ),
    Known(
        words="Plan mode on 2.1.325: how a call that the missing classifier would judge is refused.",
        only=r"[-+] system/(permission_denied|informational)",
        has="permission_denied",
        versions=("2.1.325",),
    ),
    Known(
        words="A message marked `isSynthetic`: 2.1.325 does not replay it, and its result has an origin.",
        only=ANY,
        script="isSynthetic",
        versions=("2.1.325",),
    ),
    Known(
        words="The first `initialize` while a turn runs: 2.1.38 refuses it, and 2.1.325 lists its "
        "background tasks.",
        only=rf"[-+] (control_response/\w+|system/background_tasks_changed)|{PATH}",
        script="initialize",
    ),
    Known(
        words="2.1.38 with --json-schema and a model that never calls the tool: both repeat their demand "
        "without end, and the comparison cuts them off at different points.",
        only=ANY,
        script="--json-schema",
        versions=("2.1.38",),
    ),
    Known(
        words="A subagent that is interrupted while it waits for a permission: fields of its last lines.",
        only=rf"~ (user/tool_result|system/task_\w+|result/\w+)|{PATH}",
        has="tool_result",
        script="Task",
        versions=("2.1.325",),
    ),
    Known(
        words="A notice of a hook callback is written a line earlier or later, or not at all.",
        only=r"[-+] system/(informational|notification)",
        script="hook",
        versions=("2.1.325",),
    ),
    Known(
        words="Command hooks of two settings files run in parallel, and their outcomes are reported in "
        "the order in which they end.",
        only=r"[-+] system/(hook_\w+|notification)",
        has="hook_response",
    ),
)


def known_of(verdict: Verdict) -> Known | None:
    """The entry that explains a difference."""
    return next((known for known in KNOWN if known.explains(verdict)), None)
