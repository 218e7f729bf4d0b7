"""Errors of reading a repository with git."""

from __future__ import annotations

from fairlead.errors import FairleadError

__all__ = ["GitError", "GitMissing", "GitOutputTooLarge", "GitStale", "GitTimeout"]


class GitError(FairleadError):
    """git ended with an error."""

    output: bytes = b""
    """What git printed before it failed."""
    code: int | None = None
    """Its exit code."""

    def __init__(self, command: str, message: str) -> None:
        self.command = command
        self.message = message
        super().__init__(f"`git {command}` failed: {message or 'it printed no reason'}")


class GitMissing(GitError):
    """There is no git program."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.command = ""
        self.message = "not installed"
        FairleadError.__init__(
            self, f"{program} is not installed or not on PATH. Install git on the server's machine."
        )


class GitTimeout(GitError):
    """git did not finish in time and was stopped."""

    def __init__(self, command: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(command, f"it did not finish within {seconds:g} s and was stopped")


class GitOutputTooLarge(GitError):
    """git printed more than the caller accepts and was stopped."""

    def __init__(self, command: str, limit: int) -> None:
        self.limit = limit
        super().__init__(command, f"its output has more than {limit:,} bytes")


class GitStale(GitError):
    """The repository is no longer as the caller saw it; nothing was changed."""

    def __init__(self, message: str) -> None:
        self.command = ""
        self.message = message
        FairleadError.__init__(self, message)
