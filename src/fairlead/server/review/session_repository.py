"""The repository of a session, as far as the session may change it. Blocks: call it in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from fairlead.git.repository import Repository, find_repository
from fairlead.server.policy import Policy
from fairlead.server.refusal import Refusal
from fairlead.server.working_files import WorkingFiles, path_of_id

__all__ = ["SessionRepository", "session_repository"]


@dataclass(frozen=True, slots=True)
class SessionRepository:
    """A repository that lies below the folders of the server."""

    repository: Repository
    files: WorkingFiles

    def path(self, file: str) -> str:
        """The path of an id; refuses a path outside, and what the server stores."""
        path = path_of_id(file) or ""
        parts = path.removesuffix("/").split("/")
        plain = path and "\0" not in path and not set(parts) & {"", ".", "..", ".git"}
        if not plain or self.files.opening.hides(self.repository.top / path):
            raise Refusal("not_found", "File not found in the session's repository.")
        return path


def session_repository(policy: Policy, folder: str) -> SessionRepository:
    """The repository of a folder; refuses if there is none or if it begins above the folders."""
    repository = find_repository(folder)
    if repository is None:
        raise Refusal("not_found", "The session's folder is not in a git repository.")
    if not any(repository.top.is_relative_to(root) for root in policy.folders):
        raise Refusal(
            "forbidden",
            "The repository begins above the folders of this server, so this page cannot change "
            "it. Use git in a terminal, or start the server with --root at the repository.",
        )
    files = WorkingFiles(policy.opening, str(repository.top))
    return SessionRepository(repository, files)
