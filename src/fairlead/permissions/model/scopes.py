"""Where a rule is stored and what it does: the scopes and behaviors of the CLI, in its spelling.

Pure values: no file names and no I/O (`settings` knows the files). The order of the scopes
never decides between rules (deny takes precedence over ask, and ask over allow, in every scope). It
decides only which scope's mode applies.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Behavior", "Scope"]


class Behavior(StrEnum):
    """What a rule does, or what the policy decides about a call."""

    ALLOW = "allow"
    MAY_ASK = "mayAsk"
    """Only the policy decides this: the CLI runs the call or asks, and which of the two cannot be
    predicted. It never counts as permission. No rule has this behavior."""
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """0 for allow, 1 for may ask, 2 for ask, 3 for deny."""
        return ("allow", "mayAsk", "ask", "deny").index(self.value)

    @property
    def asks(self) -> bool:
        """Whether the user has to be ready for a question."""
        return self in (Behavior.ASK, Behavior.MAY_ASK)

    @property
    def in_words(self) -> str:
        """The behavior as a user reads it."""
        return "may ask" if self is Behavior.MAY_ASK else self.value


class Scope(StrEnum):
    """The place that a rule was read from or will be written to."""

    SESSION = "session"
    CLI_ARG = "cliArg"
    COMMAND = "command"
    LOCAL = "localSettings"
    PROJECT = "projectSettings"
    USER = "userSettings"
    POLICY = "policySettings"
    FLAG = "flagSettings"

    @property
    def read_only(self) -> bool:
        """Policy and flag settings are read and never written."""
        return self in (Scope.POLICY, Scope.FLAG)

    @property
    def in_memory(self) -> bool:
        """Whether its rules are lost when the CLI process ends."""
        return self in (Scope.SESSION, Scope.CLI_ARG, Scope.COMMAND)

    @property
    def is_destination(self) -> bool:
        """Whether a PermissionUpdate may name it.

        2.1.38 treats an answer with any other destination as a denial (CLI-305).
        """
        return not self.read_only and self is not Scope.COMMAND

    @property
    def in_words(self) -> str:
        """The scope as a user reads it."""
        return _IN_WORDS[self]


_IN_WORDS = {
    Scope.SESSION: "this session",
    Scope.CLI_ARG: "the command line",
    Scope.COMMAND: "a slash command",
    Scope.LOCAL: "this project, only for you",
    Scope.PROJECT: "this project, for everyone",
    Scope.USER: "all your projects",
    Scope.POLICY: "your organization's policy",
    Scope.FLAG: "the settings given at start",
}
