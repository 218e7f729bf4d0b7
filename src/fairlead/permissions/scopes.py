"""Where a rule lives, and what it does: the scopes and behaviours of the CLI, in its own spelling.

Pure vocabulary: no file names and no I/O (`settings` knows the files). The order of the scopes
never decides between rules (deny beats ask beats allow, whatever the scope); it decides only
which scope's mode is in force.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Behaviour", "Scope"]


class Behaviour(StrEnum):
    """What a rule, or the whole policy, says about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """0 for allow, 1 for ask, 2 for deny."""
        return ("allow", "ask", "deny").index(self.value)


class Scope(StrEnum):
    """The place a rule was read from, or is to be written to."""

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
        """Policy and flag settings belong to somebody else: they are read, never written."""
        return self in (Scope.POLICY, Scope.FLAG)

    @property
    def in_memory(self) -> bool:
        """These are gone when the CLI process ends."""
        return self in (Scope.SESSION, Scope.CLI_ARG, Scope.COMMAND)

    @property
    def is_destination(self) -> bool:
        """Whether a PermissionUpdate may name it.

        2.1.38 takes an answer with any other destination as a denial (TRUTH 1.3).
        """
        return not self.read_only and self is not Scope.COMMAND

    @property
    def in_words(self) -> str:
        """How a person would call it."""
        return _IN_WORDS[self]


_IN_WORDS = {
    Scope.SESSION: "this session",
    Scope.CLI_ARG: "the command line",
    Scope.COMMAND: "a slash command",
    Scope.LOCAL: "this project, only for you",
    Scope.PROJECT: "this project, for everyone",
    Scope.USER: "all your projects",
    Scope.POLICY: "your organisation's policy",
    Scope.FLAG: "the settings given at start",
}
