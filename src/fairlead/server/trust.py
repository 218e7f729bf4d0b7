"""Which repositories may run their own hooks and MCP servers; users answer once for each content.

A session does not start in a folder whose files would make the CLI run something before a user
has seen the list and answered "trust" or "without" (abuse case T-26). The answer applies to one
folder and one digest of the files; if a byte of them changes, the user is asked again. "Without"
starts the CLI with the user's own settings only, which excludes hooks, servers and permissions of
the project (measured on 2.1.38 and 2.1.325).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import to_builtins

from fairlead.host.options.project_commands import ProjectCommands, find_project_commands
from fairlead.server.refusal import Refusal

__all__ = ["TRUST", "WITHOUT", "TrustBook"]

TRUST, WITHOUT = "trust", "without"


class TrustBook:
    """The answers of one server; in memory only until `load` names a file for them."""

    def __init__(self) -> None:
        self.environment: Callable[[str], Mapping[str, str]] = lambda profile: os.environ
        """The variables of the CLI in a profile: they determine where the user's own settings are."""
        self.profiles: Callable[[], Iterable[str]] = lambda: ("",)
        """The names of all profiles; empty for the default one."""
        self._answers: dict[str, dict[str, str]] = {}
        self._file: Path | None = None

    def load(self, file: Path) -> None:
        """Read the stored answers from this file, and write every answer to it from now on."""
        self._file = file
        try:
            stored = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return  # No answers yet, or a damaged file: the user is asked again.
        if isinstance(stored, dict):
            self._answers = {
                str(folder): {str(digest): str(answer) for digest, answer in answers.items()}
                for folder, answers in stored.items()
                if isinstance(answers, dict)
            }

    def read_again(self) -> None:
        """Read the answers again: another process of the server changed them."""
        if self._file is not None:
            self.load(self._file)

    def check(self, folder: str, profile: str = "") -> str | None:
        """The answer for this folder as it is now; None if it needs none. Refuses without one."""
        project, answer = self.look(folder, profile)
        if project is not None and answer is None:
            raise _trust_needed(project)
        return answer

    def look(self, folder: str, profile: str = "") -> tuple[ProjectCommands | None, str | None]:
        """What the files of this folder would run now, and the answer to that, if any."""
        project = self._find(folder, profile)
        if project is None:
            return None, None
        answer = self._answers.get(folder, {}).get(project.digest)
        return project, answer if answer in (TRUST, WITHOUT) else None

    def _find(self, folder: str, profile: str) -> ProjectCommands | None:
        variables = self.environment(profile)
        return find_project_commands(
            folder, variables.get("HOME", ""), variables.get("CLAUDE_CONFIG_DIR", "")
        )

    def answer(self, folder: str, digest: str, choice: str) -> None:
        """Store a user's answer, if it is about what the files contain now."""
        if choice not in (TRUST, WITHOUT):
            raise Refusal(
                "bad_message", f"Unknown choice {choice!r:.80}. Send {TRUST!r} or {WITHOUT!r}."
            )
        # The user's own settings of one profile are a project's settings for another.
        projects = (self._find(folder, profile) for profile in self.profiles())
        if not any(project is not None and project.digest == digest for project in projects):
            raise Refusal(
                "stale", "These files changed after they were shown. Review them and answer again."
            )
        self._answers.setdefault(folder, {})[digest] = choice
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        part = self._file.with_name(f"{self._file.name}.part")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(self._answers, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError as problem:
            raise Refusal(
                "unavailable",
                "The answer applies until the server stops, but could not be stored: "
                f"{problem.strerror or problem}.",
            ) from problem


def _trust_needed(project: ProjectCommands) -> Refusal:
    count = len(project.commands)
    return Refusal(
        "conflict",
        f"Files of this project make the agent run or allow {count} "
        f"thing{'s' if count != 1 else ''} without asking. Review them and answer trust_project.",
        check="trust",
        folder=project.folder,
        digest=project.digest,
        commands=to_builtins(project.commands),
    )
