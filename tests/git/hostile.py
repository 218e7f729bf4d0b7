"""Ways in which a repository makes a plain git run programs or read elsewhere.

Each attack prepares a repository whose program leaves a mark; `commands` are what a user of plain
git would type. A test runs both: plain git must leave the mark (so the attack is real), the reader
must not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.git.repositories import commit_all, git, new_repository

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True)
class Attack:
    """One way to run a program."""

    name: str
    prepare: Callable[[Path, str], None]
    """Given the repository and a shell command that leaves the mark."""
    commands: tuple[tuple[str, ...], ...]


def _config(key: str, value: str = "{}") -> Callable[[Path, str], None]:
    def prepare(folder: Path, mark: str) -> None:
        git(folder, "config", key, value.format(mark))
        (folder / "README.md").write_text("changed\n")

    return prepare


def _attributed(attribute: str, key: str, program: str = "{}") -> Callable[[Path, str], None]:
    def prepare(folder: Path, mark: str) -> None:
        (folder / ".gitattributes").write_text(f"* {attribute}\n")
        commit_all(folder)
        git(folder, "config", key, program.format(mark))
        (folder / "README.md").write_text("changed\n")

    return prepare


def _hook(folder: Path, mark: str) -> None:
    hook = folder / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{mark}\n")
    hook.chmod(0o755)
    # The index has an old time for the file, so plain git refreshes and writes it.
    (folder / "README.md").touch()


def _submodule(folder: Path, mark: str) -> None:
    inner = new_repository(folder / "inner")
    git(folder, "add", "inner", check=False)
    (folder / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    commit_all(folder)
    git(inner, "config", "core.fsmonitor", f"{mark}; false")


def _promisor(folder: Path, mark: str) -> None:
    """A partial clone: an object is missing, and the remote that has it is a program."""
    (folder / "README.md").write_text("changed\n")
    name = git(folder, "rev-parse", "HEAD:README.md").strip()
    (folder / ".git" / "objects" / name[:2] / name[2:]).unlink()
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.partialClone", "origin")
    git(folder, "config", "remote.origin.promisor", "true")
    program = folder / ".git" / "transport"
    program.write_text(f"#!/bin/sh\n{mark}\n")
    program.chmod(0o755)
    git(folder, "config", "remote.origin.url", f"ext::{program}")
    git(folder, "config", "protocol.ext.allow", "always")


STATUS, DIFF = ("status",), ("diff", "HEAD")

ATTACKS = (
    Attack("fsmonitor", _config("core.fsmonitor", "{}; false"), (STATUS, DIFF)),
    Attack("external diff", _config("diff.external", "{}; true"), (DIFF,)),
    Attack("diff driver", _attributed("diff=evil", "diff.evil.command", "{}; true"), (DIFF,)),
    Attack("textconv", _attributed("diff=evil", "diff.evil.textconv", "{}; cat"), (DIFF,)),
    Attack("clean filter", _attributed("filter=evil", "filter.evil.clean", "{}; cat"), (DIFF,)),
    Attack("filter process", _attributed("filter=evil", "filter.evil.process"), (DIFF,)),
    Attack(
        "filter with a dotted name",
        _attributed("filter=a.b", "filter.a.b.clean", "{}; cat"),
        (DIFF,),
    ),
    Attack("hook", _hook, (STATUS,)),
    Attack("submodule", _submodule, (STATUS,)),
    Attack("promisor remote", _promisor, (DIFF,)),
)
