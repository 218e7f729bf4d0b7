"""Real repositories for tests, made with the real git and without the user's configuration."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fairlead.git import GitReader, find_repository

__all__ = [
    "FilesBelow",
    "commit_all",
    "conflicting",
    "git",
    "new_repository",
    "reader_of",
    "repository_with_author",
]

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def git(folder: Path, *arguments: str, check: bool = True) -> str:
    """Run git as a user would, with the repository's own configuration in force."""
    done = subprocess.run(
        ["git", "-c", "protocol.ext.allow=always", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"git {arguments}: {done.stderr}")
    return done.stdout


def new_repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """A repository with one commit on the branch `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for name, content in (files or {"README.md": "hello\n"}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    commit_all(folder)
    return folder


def commit_all(folder: Path, message: str = "A commit.") -> str:
    """Commit everything; the id of the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD").strip()


def reader_of(folder: Path, *, program: str = "git", deadline_s: float = 20.0) -> GitReader:
    """A reader of the repository at a folder."""
    repository = find_repository(folder)
    assert repository is not None
    return GitReader(repository, program=program, deadline_s=deadline_s)


@dataclass(frozen=True)
class FilesBelow:
    """The regular files of a folder."""

    folder: Path

    def size(self, path: str) -> int | None:
        """Bytes of a file."""
        try:
            state = (self.folder / path).lstat()
        except OSError:
            return None
        return state.st_size if stat.S_ISREG(state.st_mode) else None

    def read(self, path: str, most: int) -> bytes | None:
        """The content of a file."""
        size = self.size(path)
        return None if size is None or size > most else (self.folder / path).read_bytes()

    def start(self, path: str, most: int) -> bytes | None:
        """The first bytes of a file."""
        if self.size(path) is None:
            return None
        with (self.folder / path).open("rb") as file:
            return file.read(most)


def repository_with_author(folder: Path) -> Path:
    """A repository whose commits have an author."""
    new_repository(folder, {"a.txt": "one\n", "b.txt": "two\n"})
    git(folder, "config", "user.name", "Test")
    git(folder, "config", "user.email", "test@example.org")
    return folder


def conflicting(folder: Path) -> Path:
    """A repository in a merge: `both` was changed on both sides, `clean` was added on the other."""
    new_repository(folder, {"both": "base\n"})
    git(folder, "config", "user.name", "Test")
    git(folder, "config", "user.email", "test@example.org")
    git(folder, "checkout", "--quiet", "-b", "theirs")
    (folder / "both").write_text("theirs\n")
    (folder / "clean").write_text("clean\n")
    commit_all(folder)
    git(folder, "checkout", "--quiet", "main")
    (folder / "both").write_text("ours\n")
    commit_all(folder)
    git(folder, "merge", "theirs", check=False)
    return folder
