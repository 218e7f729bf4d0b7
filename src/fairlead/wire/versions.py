"""The version of a CLI, and the differences between versions.

`Version` is an ordered value; `Feature` is the table of differences that a host has to know. Rows
of behavior come from docs/cli-behaviour.md, measured on 2.1.29, 2.1.38, 2.1.120, 2.1.220 and
2.1.325: a change between two of them counts from the later one. Rows with "read" or "tried" are
exact: found in, or run with, the published packages on either side of the change. A version newer
than all measured ones is treated like the newest. `host/options/flags` has the flags of each
version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct

__all__ = ["MEASURED", "NEWEST_MEASURED", "OLDEST", "Feature", "Span", "Version", "features"]

_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?([-+][0-9A-Za-z.+-]+)?")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A version of the CLI. Ordered by its numbers; a suffix is kept but does not count."""

    major: int
    minor: int
    patch: int
    suffix: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """The first version in a text such as `2.1.325 (Claude Code)`; None if there is none."""
        match = _VERSION.search(text)
        if match is None:
            return None
        major, minor, patch, suffix = match.groups()
        return cls(int(major), int(minor), int(patch or 0), suffix or "")

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}{self.suffix}"

    def has(self, feature: Feature) -> bool:
        """Whether this version has a feature."""
        return self in feature.span


OLDEST = Version(2, 1, 29)
"""The oldest supported version."""

NEWEST_MEASURED = Version(2, 1, 325)
"""Any later version is assumed to behave like this one until it is measured."""

MEASURED = (OLDEST, Version(2, 1, 38), Version(2, 1, 120), Version(2, 1, 220), NEWEST_MEASURED)
"""The versions whose behavior was recorded."""


class Span(Struct, frozen=True):
    """A range of versions, open at either end."""

    since: Version | None = None
    """The first version of the range."""
    until: Version | None = None
    """The first version after the range."""

    def __contains__(self, version: Version) -> bool:
        return (self.since is None or version >= self.since) and (
            self.until is None or version < self.until
        )

    def __str__(self) -> str:
        if self.since is None:
            return "every version" if self.until is None else f"before {self.until}"
        if self.until is None:
            return f"{self.since} and later"
        return f"{self.since} and later, before {self.until}"


def _since(patch: int) -> Span:
    return Span(since=Version(2, 1, patch))


def _before(patch: int) -> Span:
    return Span(until=Version(2, 1, patch))


class Feature(Enum):
    """One difference between versions, with the versions that show it.

    The name says what such a version does; test it with `version.has(Feature.X)`.
    """

    # Lines of the host
    KILLS_ON_UNKNOWN_STDIN = ("kills_on_unknown_stdin", _before(120))
    """A blank line, an unknown type or a control_cancel_request ends it, exit 1 (CLI-902)."""
    UNKNOWN_CONTROL_IS_SILENT = ("unknown_control_is_silent", _before(120))
    """A control request it does not know is never answered (CLI-215)."""
    DOUBLE_MODE_ANSWER = ("double_mode_answer", _before(120))
    """set_permission_mode is answered twice under one id (CLI-210)."""
    CHECKS_MODE = ("checks_mode", _since(220))
    """set_permission_mode refuses an unknown mode; earlier versions accept any (CLI-1304)."""
    ALLOW_NEEDS_INPUT = ("allow_needs_input", _before(220))
    """An allow without updatedInput counts as a denial (CLI-1307)."""
    REINITIALIZE_IS_AN_ERROR = ("reinitialize_is_an_error", _before(220))
    """A second initialize is refused, though with the list of open requests (CLI-225; tried)."""
    CANCELS_QUEUED = ("cancels_queued", _since(220))
    """interrupt {cancel_queued} drops the queued prompts (CLI-204)."""

    APPLIES_SETTINGS = ("applies_settings", _since(325))
    """apply_flag_settings takes permission rules, which hold at once (CLI-334; measured)."""
    CLIENT_COMPOSED = ("client_composed", _since(325))
    """A prompt marked client_composed goes to the model as written: no file is attached for an
    @path in it, and no command is run. Said to exist from 2.1.248 on; measured here."""

    # Lines of the CLI
    MERGES_QUEUED_PROMPTS = ("merges_queued_prompts", _since(120))
    """Prompts that are queued during a text turn become one turn with one result (CLI-1313)."""
    COMMAND_LIFECYCLE = ("command_lifecycle", _since(220))
    """Each prompt with a uuid is reported as queued, started, completed … (CLI-1314)."""
    CAPABILITIES = ("capabilities", _since(205))
    """init (CLI-1203) and the answer to initialize (CLI-816) list capabilities."""
    STILL_QUEUED = ("still_queued", _since(220))
    """The answer to interrupt lists the prompts that are still queued (CLI-1310)."""
    INTERRUPT_IS_ERROR = ("interrupt_is_error", _since(120))
    """An interrupted turn ends with is_error and a terminal_reason (CLI-1309)."""
    API_RETRY = ("api_retry", _since(120))
    """A retry is reported by system/api_retry; earlier versions are silent for minutes (CLI-514)."""
    SESSION_STATE_EVENTS = ("session_state_events", _since(83))
    """session_state_changed, if an environment variable enables it (read; CLI-525)."""
    SLASH_OUTPUT_IS_ASSISTANT = ("slash_output_is_assistant", _since(120))
    """The output of a slash command is an assistant message (CLI-1308)."""
    UNKNOWN_SLASH_GOES_TO_MODEL = ("unknown_slash_goes_to_model", _since(325))
    """/foo that does not exist is a prompt like any other (CLI-603)."""
    TASK_EVENTS = ("task_events", _since(120))
    """Background tasks report their start and end, and start turns by themselves (CLI-1102)."""
    PLAN_IN_INPUT = ("plan_in_input", _before(325))
    """ExitPlanMode carries the plan; afterwards get_plan has it (CLI-407)."""
    COST_CONTINUES_ON_RESUME = ("cost_continues_on_resume", _since(325))
    """total_cost_usd continues from the saved sum after a resume (CLI-508)."""
    HOOK_CALLBACK_FAILS_CLOSED = ("hook_callback_fails_closed", _since(325))
    """A hook callback that is not answered stops the tool; earlier ones run it (CLI-815)."""

    # Options and tools
    AUTH_STATUS = ("auth_status", _since(120))
    """`claude auth status` reports in JSON whether the user is logged in; 2.1.38 would take it for a
    prompt (tried)."""
    AUTO_MODE = ("auto_mode", _since(71))
    """--permission-mode=auto exists (tried)."""
    DELEGATE_MODE = ("delegate_mode", _before(47))
    """--permission-mode=delegate is accepted and means default (tried)."""
    RESUME_BY_TITLE = ("resume_by_title", _since(101))
    """--resume takes the title of a session as well as its id (read, and tried on 2.1.120)."""
    FALLBACK_LIST = ("fallback_list", _since(160))
    """--fallback-model takes several, with commas (read)."""
    EFFORT_XHIGH = ("effort_xhigh", _since(111))
    """--effort=xhigh exists (tried)."""
    THINKING_HIGHLIGHTS = ("thinking_highlights", _since(277))
    """--thinking-display=highlights exists (tried)."""
    TODO_WRITE = ("todo_write", _before(220))
    """The model has TodoWrite by default (CLI-1315)."""
    GLOB_AND_GREP = ("glob_and_grep", _before(220))
    """The model has Glob and Grep by default (CLI-1316)."""

    # Errors
    SCHEMA_LOOPS = ("schema_loops", _before(220))
    """A model that never fills in the output schema is asked again endlessly; max_turns does
    not count that, only a budget ends it (tried: 1,164 requests in 30 s on 2.1.38, 658 in 8 s on
    2.1.120; 2.1.220 asks once again)."""
    DIES_ON_BAD_MCP_CONFIG = ("dies_on_bad_mcp_config", _before(120))
    """An --mcp-config that it cannot use ends it with exit 0 and no output (CLI-112)."""

    def __init__(self, label: str, span: Span) -> None:
        self.label = label
        self.span = span


def features(version: Version) -> frozenset[Feature]:
    """All features of a version."""
    return frozenset(feature for feature in Feature if version.has(feature))
