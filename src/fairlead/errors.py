"""Every exception of Fairlead, sorted by who is to blame.

    FairleadError
    ├── UsageError            the caller: a wrong argument, a closed session, a second answer
    │   ├── OptionError       one option has a value that cannot work
    │   ├── SessionClosed     the session was closed before or during the call
    │   └── SettingsError     a settings file cannot be read or written
    ├── PeerError             the CLI broke or refused the protocol
    │   ├── ControlError      it answered a control request with an error
    │   └── ControlTimeout    it did not answer a control request in time
    ├── ProcessError          the CLI process: not found, died, unresponsive
    │   ├── AgentNotFound     there is no such executable
    │   ├── AgentExited       it ended before it should have
    │   └── InputBlocked      it does not read its input, so nothing more is written to it
    ├── TurnCancelled         a prompt was cancelled, by the host or by the CLI
    ├── TurnFailed            a turn has ended with an error; raised by `raise_for_error` only
    ├── ReaderOverrun         one reader fell too far behind and was closed
    └── Refused               a policy denied it
        └── ProjectProgramsRefused  files of the project would start programs

Each stores its details as attributes and builds its text from them, so that programs can inspect
the details and people can read the text. Lowest layer: imports nothing of Fairlead.
"""

from __future__ import annotations

__all__ = [
    "AgentExited",
    "AgentNotFound",
    "ControlError",
    "ControlTimeout",
    "FairleadError",
    "InputBlocked",
    "OptionError",
    "PeerError",
    "ProcessError",
    "ProjectProgramsRefused",
    "ReaderOverrun",
    "Refused",
    "SessionClosed",
    "SettingsError",
    "TurnCancelled",
    "TurnFailed",
    "UsageError",
]


NOT_STARTED = "the session has not been started: use it in a `with` block, or call start()"
"""The cause of a `SessionClosed` before the start."""


class FairleadError(Exception):
    """Base of everything Fairlead raises on purpose."""


class UsageError(FairleadError):
    """The caller asked for something that cannot be done as asked."""


class OptionError(UsageError):
    """One option has a value that cannot work."""

    def __init__(self, option: str, problem: str, hint: str = "") -> None:
        super().__init__(option, problem, hint)
        self.option = option
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.option}: {self.problem}" + (f" {self.hint}" if self.hint else "")


class SessionClosed(UsageError):
    """The session was closed, so nothing more can be sent or asked."""

    def __init__(self, action: str, cause: str = "") -> None:
        super().__init__(action, cause)
        self.action = action
        self.cause = cause

    def __str__(self) -> str:
        if self.cause == NOT_STARTED:
            return f"cannot {self.action}: {NOT_STARTED}."
        suffix = f" ({self.cause})" if self.cause else ""
        return f"cannot {self.action}: the session is closed{suffix}. Start a new one, or resume."


class SettingsError(UsageError):
    """A settings file cannot be read or written; it was not changed."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem} The file was not changed."


class PeerError(FairleadError):
    """The CLI did something its protocol does not allow, or refused what we asked."""


class ControlError(PeerError):
    """The CLI answered a control request with an error."""

    def __init__(self, subtype: str, message: str, code: str | None = None) -> None:
        super().__init__(subtype, message, code)
        self.subtype = subtype
        self.message = message
        self.code = code

    def __str__(self) -> str:
        code = f" [{self.code}]" if self.code else ""
        return f"the CLI refused {self.subtype!r}: {self.message}{code}"


class ControlTimeout(PeerError):
    """The CLI did not answer a control request in time."""

    def __init__(self, subtype: str, seconds: float) -> None:
        super().__init__(subtype, seconds)
        self.subtype = subtype
        self.seconds = seconds

    def __str__(self) -> str:
        return (
            f"the CLI did not answer {self.subtype!r} within {self.seconds:g} s. "
            "Old versions are silent about requests they do not know."
        )


class ProcessError(FairleadError):
    """The CLI process is missing, died, or cannot be started."""


class AgentNotFound(ProcessError):
    """There is no such executable."""

    def __init__(self, agent: str) -> None:
        super().__init__(agent)
        self.agent = agent

    def __str__(self) -> str:
        return (
            f"{self.agent!r} was not found. Install Claude Code "
            "(npm install -g @anthropic-ai/claude-code), pass the path of a CLI as the agent, or "
            "use the agent 'demo', which needs no account."
        )


class InputBlocked(ProcessError):
    """The CLI does not read its input, so nothing more is written to it."""

    def __init__(self, action: str, limit: int) -> None:
        super().__init__(action, limit)
        self.action = action
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"cannot {self.action}: the CLI does not read its input, and more than "
            f"{self.limit / (1024 * 1024):g} MiB wait for it already. Wait, or close the session "
            "and resume it."
        )


class AgentExited(ProcessError):
    """The CLI process ended before it should have."""

    def __init__(self, returncode: int | None, stderr: str, hint: str = "") -> None:
        super().__init__(returncode, stderr, hint)
        self.returncode = returncode
        self.stderr = stderr
        self.hint = hint

    def __str__(self) -> str:
        code = self.returncode
        if code is None:
            ending = "was lost"
        elif code < 0:
            ending = f"was killed by signal {-code}"
        else:
            ending = f"ended with exit code {code}"
        text = f"the CLI {ending}"
        if self.hint:
            text += f": {self.hint}"
        tail = self.stderr.strip()
        return f"{text}\nLast lines on stderr:\n{tail}" if tail else text


class TurnCancelled(FairleadError):
    """A prompt was cancelled before it had a result."""

    def __init__(self, uuid: str, reason: str) -> None:
        super().__init__(uuid, reason)
        self.uuid = uuid
        self.reason = reason

    def __str__(self) -> str:
        return f"the prompt {self.uuid} was cancelled: {self.reason}"


class TurnFailed(FairleadError):
    """A turn ended without success; raised only by `Turn.raise_for_error` and `Answer`'s."""

    def __init__(self, subtype: str, errors: tuple[str, ...], text: str = "") -> None:
        super().__init__(subtype, errors, text)
        self.subtype = subtype
        self.errors = errors
        self.text = text
        """The text of the model until then."""

    def __str__(self) -> str:
        reasons = "; ".join(self.errors) or "the CLI gave no reason"
        return f"the turn failed ({self.subtype}): {reasons}"


class ReaderOverrun(FairleadError):
    """One reader fell too far behind and was closed; the session and other readers continue."""

    def __init__(self, unread: int, limit: int) -> None:
        super().__init__(unread, limit)
        self.unread = unread
        self.limit = limit

    def __str__(self) -> str:
        return (
            f"this reader left {self.unread:,} bytes unread (limit {self.limit:,}) and was ended. "
            "Read faster, raise `reader_limit`, or take session.messages() only where it is read."
        )


class Refused(FairleadError):
    """A policy of the host denied it."""


class ProjectProgramsRefused(Refused):
    """Files of the project would start programs, and `project_programs="refuse"` was given."""

    def __init__(self, folder: str, programs: tuple[tuple[str, str, str], ...]) -> None:
        super().__init__(folder, programs)
        self.folder = folder
        self.programs = programs
        """File, part of the file and content, for each program or setting that was found."""

    def __str__(self) -> str:
        # They come from another source: repr makes control characters visible.
        lines = (f"\n  {file!r}, {what!r}: {content!r}" for file, what, content in self.programs)
        return (
            f"the CLI was not started, because files of the project {self.folder!r} would make it "
            f"run or allow this without asking:{''.join(lines)}\nRead them, then give "
            'project_programs="run" to start with them or "ignore" to start without them.'
        )
