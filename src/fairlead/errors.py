"""Every exception of Fairlead, sorted by who is to blame.

    FairleadError
    ├── UsageError            the caller: a wrong argument, a closed session, a second answer
    │   ├── OptionError       one option has a value that cannot work
    │   ├── SessionClosed     the session was closed before or during the call
    │   └── SettingsError     a settings file cannot be read or written as it stands
    ├── PeerError             the CLI broke or refused the protocol
    │   ├── ControlError      it answered a control request with an error
    │   └── ControlTimeout    it did not answer a control request in time
    ├── ProcessError          the CLI process: not found, died, said nothing
    │   ├── AgentNotFound     there is no such executable
    │   └── AgentExited       it ended before it should have
    ├── TurnCancelled         a prompt was taken back, by the host or by the CLI
    ├── ReaderOverrun         one reader fell too far behind and was let go
    └── Refused               a policy said no

Each carries its facts as attributes and builds its text from them, so that a program can
ask and a person can read. Lowest layer: imports nothing of Fairlead.
"""

from __future__ import annotations

__all__ = [
    "AgentExited",
    "AgentNotFound",
    "ControlError",
    "ControlTimeout",
    "FairleadError",
    "OptionError",
    "PeerError",
    "ProcessError",
    "ReaderOverrun",
    "Refused",
    "SessionClosed",
    "SettingsError",
    "TurnCancelled",
    "UsageError",
]


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
        because = f" ({self.cause})" if self.cause else ""
        return f"cannot {self.action}: the session is closed{because}. Start a new one, or resume."


class SettingsError(UsageError):
    """A settings file cannot be read or written as it stands; it was left untouched."""

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
            f"no executable {self.agent!r}. Install Claude Code "
            "(npm install -g @anthropic-ai/claude-code) or give its path as `agent`."
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
            how = "was lost"
        elif code < 0:
            how = f"was killed by signal {-code}"
        else:
            how = f"ended with exit code {code}"
        text = f"the CLI {how}"
        if self.hint:
            text += f": {self.hint}"
        tail = self.stderr.strip()
        return f"{text}\nIts last words on stderr:\n{tail}" if tail else text


class TurnCancelled(FairleadError):
    """A prompt was taken back before it had a result."""

    def __init__(self, uuid: str, reason: str) -> None:
        super().__init__(uuid, reason)
        self.uuid = uuid
        self.reason = reason

    def __str__(self) -> str:
        return f"the prompt {self.uuid} was cancelled: {self.reason}"


class ReaderOverrun(FairleadError):
    """One reader fell too far behind and was let go; the session and other readers go on."""

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
    """A policy of the host said no."""
