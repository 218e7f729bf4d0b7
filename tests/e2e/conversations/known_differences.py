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
    """The fields of the script must contain this expression."""
    only_order: bool = False
    """The two must have written the same lines, in another order."""
    versions: tuple[str, ...] = ("2.1.38", "2.1.325")

    def explains(self, verdict: Verdict) -> bool:
        lines = signature(verdict.diff)
        return (
            verdict.version in self.versions
            and all(re.fullmatch(self.only, line) for line in lines)
            and any(re.search(self.has, line) for line in lines)
            and re.search(self.script, str(verdict.script.to_json()), re.DOTALL) is not None
            and (not self.only_order or _same_lines(verdict.diff))
        )


def _same_lines(diff: str) -> bool:
    """Whether every line that one side lacks is written by it at another place."""
    changed = [line for line in diff.splitlines() if line[:2] in ("- ", "+ ", "~ ")]
    missing = sorted(line[2:] for line in changed if line.startswith("-"))
    added = sorted(line[2:] for line in changed if line.startswith("+"))
    return missing == added and not any(line.startswith("~") for line in changed)


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
        only_order=True,
    ),
    Known(
        words="Tools or subagents that run side by side: the order of their lines depends on how long "
        "each of them takes.",
        only=r"[-+] (user/tool_result|assistant/tool_use|control_request/can_use_tool|user/text"
        r"|system/task_\w+)",
        has="tool_result|tool_use|task_",
        only_order=True,
    ),
    Known(
        words="The host wrote several lines together, or a line right after a result: they are read "
        "earlier or later relative to the end of the turn. The CLI itself varies.",
        only=r"[-+] (command_lifecycle/\w+|control_response/\w+(/replay)?|user(/replay)?(/text)*"
        r"|system/init|system/session_state_changed/\w+)",
        has="command_lifecycle|control_response/success",
        only_order=True,
    ),
    Known(
        words="Prompts written at once: how many of them become one turn depends on when they are read.",
        only=r"[-+] (command_lifecycle/\w+|system/(init|status)|result/\w+|user(/replay)?(/text)*"
        r"|assistant/text|stream_event/\w+)|~ (result/\w+|assistant/text|system/init|user.*)|"
        + PATH,
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
        only=r"[-+] (assistant/tool_use|user/tool_result|user/text|system/task_\w+)",
        has="assistant/tool_use",
        script="AGENT-",
        only_order=True,
    ),
    Known(
        words="Rules: the permission policy that the emulator uses is stricter than the CLI in a few "
        "combinations, such as `Write(a.txt)` for an edit of that file, or a new file where `Read` is "
        "denied.",
        only=rf"[-+] (control_(request|response)/\w+|user/tool_result|system/permission_denied"
        rf"|result/error_max_turns)"
        rf"|~ (user/tool_result|result/success)|{PATH}",
        has=r"^[-+] (control_request/can_use_tool|system/permission_denied)",
    ),
    Known(
        words="A command that no shell can parse, such as `if`: 2.1.325 runs it under a rule for all of "
        "Bash, and the permission policy asks (CLI-1718). The host's answer decides how the turn goes on.",
        only=ANY,
        has=r"^\+ control_request/can_use_tool",
        script="'--allowedTools', 'Bash'[],].*'command': 'if'",
        versions=("2.1.325",),
    ),
    Known(
        words="--json-schema on 2.1.325 and a reply without text: whether the output is demanded again "
        "after the demand for a visible text.",
        only=r"[-+] (user/(text|tool_result)|assistant/\w+|result/success|command_lifecycle/\w+"
        rf"|system/init)|~ .*|{PATH}",
        script="--json-schema.*'type': 'thinking'",
        versions=("2.1.325",),
    ),
    Known(
        words="2.1.38: Write refuses a file that was not read, but in a later turn it writes the file.",
        only=rf"~ user/tool_result|{PATH}",
        has="structuredPatch",
        script="'name': 'Write'",
        versions=("2.1.38",),
    ),
    Known(
        words="2.1.38: a message that ends with `max_tokens` and reaches the budget ends the turn at "
        "once, and the emulator asks for the rest of the message.",
        only=r"[-+] (stream_event/\w+|assistant/text|result/error_max_budget_usd)",
        has="error_max_budget_usd",
        script="'stop_reason': 'max_tokens'",
        versions=("2.1.38",),
    ),
    Known(
        words="2.1.38: a process that is killed in its first turn, and a prompt with the same uuid after it: "
        "it is answered if the killed process had not stored it yet.",
        only=r"[-+] (system/init|assistant/text|result/success|user(/replay)?(/text)*)",
        script="SIGKILL.*'uuid': 'first'",
        versions=("2.1.38",),
    ),
    Known(
        words="Suggestions of the next prompt on 2.1.325: whether the model's answer comes before the next "
        "prompt, which ends the request.",
        only=r"[-+] prompt_suggestion(/\w+)?|~ result/\w+|[-+] \.model_usage_since_last_result.*",
        has="prompt_suggestion",
        script="promptSuggestions|--prompt-suggestions",
        versions=("2.1.325",),
    ),
    Known(
        words="A command that runs for 30 s before the host interrupts it, or before it ends, writes "
        "`tool_progress`; whether it is a little more or less decides the speed of the machine.",
        only=r"[-+] (tool_progress(/\w+)?|system/(task_\w+|informational))|~ system/task_\w+|"
        + PATH,
        has="tool_progress",
        script="sleep 30",
        versions=("2.1.325",),
    ),
    Known(
        words="A command that is interrupted after about three seconds: it is reported as a task if it "
        "ran for three seconds before, so the speed of the machine decides.",
        only=r"[-+] system/task_(started|notification)|~ system/task_started|" + PATH,
        has="task_started",
        script="sleep 30",
        versions=("2.1.325",),
    ),
    Known(
        words="Plan mode on 2.1.325: how a call that the missing classifier would judge is refused.",
        only=r"[-+] system/(permission_denied|informational)",
        has="permission_denied",
        versions=("2.1.325",),
    ),
    Known(
        words="A subagent that is interrupted while it waits for a permission: fields of its last lines.",
        only=rf"~ (user/tool_result|system/task_\w+|result/\w+)|{PATH}",
        has="tool_result",
        script="Task",
        versions=("2.1.325",),
    ),
    Known(
        words="A process that is killed while a permission request is open: which of its last lines it "
        "wrote, and on 2.1.38 whether the session can be resumed.",
        only=ANY,
        script="SIGKILL.*'permissions': \\['hold'|'permissions': \\['hold'.*SIGKILL",
    ),
    Known(
        words="SIGINT while a permission request is open, with session state events: the CLI does not "
        "report `running` again before it ends.",
        only=r"\+ system/session_state_changed/running",
        script="SIGINT",
        versions=("2.1.325",),
    ),
    Known(
        words="A prompt with the priority `now` while text arrives: the turn ends with a success, and in "
        "the emulator with an error, as it does while the model is silent.",
        only=rf"[-+] result/\w+|~ result/\w+|{PATH}",
        script="'priority': 'now'",
        versions=("2.1.325",),
    ),
    Known(
        words="Plan or auto mode without the classifier: a tool is refused a few stream events earlier or "
        "later.",
        only=f"{STREAM}|{TOOL}",
        has="permission_denied",
        script="'auto'|EnterPlanMode",
        versions=("2.1.325",),
    ),
    Known(
        words="A 403 that the server does not want repeated, in the turn after plan mode was left: the CLI "
        "repeats the request. Elsewhere it does not.",
        only=ANY,
        script="EnterPlanMode.*'error': 403",
        versions=("2.1.325",),
    ),
    Known(
        words="2.1.38: the result of `/compact` after an interrupted first turn counts the tokens of the "
        "summary.",
        only=rf"~ result/success|{PATH}",
        has="modelUsage",
        script="/compact",
        versions=("2.1.38",),
    ),
    Known(
        words="Subagents side by side that ask for permission, and an interrupt: which of them gets which "
        "answer of the host.",
        only=r"[-+] user/tool_result",
        script="'AGENT-.*'subtype': 'interrupt'",
        versions=("2.1.325",),
    ),
    Known(
        words="An answer of the host to a callback that crosses with its interrupt, or with its prompt of "
        "the priority `now`: the CLI withdraws the call if it reads the answer later.",
        only=r"[-+] control_cancel_request",
        script="'priority': 'now'|'subtype': 'interrupt'",
        versions=("2.1.325",),
    ),
    Known(
        words="A callback of the host that does not answer within its timeout of a second: the call is "
        "cancelled a little earlier or later than the next request, whose answer ends it too.",
        only=r"[-+] (control_cancel_request|system/informational)",
        has="control_cancel_request",
        script="'timeout': 1",
        versions=("2.1.325",),
    ),
    Known(
        words="A notice of a hook callback is written a line earlier or later.",
        only=r"[-+] (system/(informational|notification)|user/tool_result|stream_event/\w+)",
        has="system/",
        script="hook",
        versions=("2.1.325",),
        only_order=True,
    ),
    Known(
        words="Command hooks of two settings files run in parallel, and their outcomes are reported in "
        "the order in which they end.",
        only=r"[-+] system/(hook_\w+|notification)",
        has="hook_response",
        only_order=True,
    ),
)


def known_of(verdict: Verdict) -> Known | None:
    """The entry that explains a difference."""
    return next((known for known in KNOWN if known.explains(verdict)), None)
