"""Commits what is staged, with the repository's hooks, as a user's own `git commit` does.

Hooks are programs of the repository. The caller shows which ones would run and passes the digest
of what it showed; if a hook or the index has changed since, nothing is committed. Programs that
are not hooks still do not run: no monitor, no filter, and no signing program that the repository's
own configuration names.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairlead.git.errors import GitError, GitStale
from fairlead.git.reader import DIFF, FIXED, OUTPUT_BYTES, GitReader, filter_overrides

__all__ = ["COMMIT_S", "GitCommits", "Hook", "hooks_of"]

COMMIT_S = 300.0
"""How long a commit with all its hooks may take."""
HOOK_NAMES = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite",
              "reference-transaction", "post-index-change")  # fmt: skip
"""The hooks that `git commit` can run."""
HOOK_BYTES = 1024 * 1024
SIGNERS = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultkeycommand": "",
}
"""Settings that name a program for signatures -> git's own default."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A program that a commit runs."""

    name: str
    path: str


class GitCommits(GitReader):
    """Commits to one repository."""

    async def hooks(self) -> tuple[list[Hook], str]:
        """The hooks that would run, and the digest of their contents."""
        folder = await self._hooks_folder()
        return await asyncio.to_thread(hooks_of, folder)

    async def staged_digest(self) -> str:
        """The digest of everything that is staged."""
        printed = await self.read("diff", *DIFF, "--cached", "--raw", "--abbrev=40", "-z")
        return hashlib.sha256(printed).hexdigest()

    async def commit(
        self, message: str, *, hooks: str, staged: str, environment: Mapping[str, str]
    ) -> str:
        """Commit what is staged, and return the id of the new commit."""
        if not message.strip():
            raise GitError("commit", "a commit needs a message")
        if (await self.hooks())[1] != hooks:
            raise GitStale(
                "The hooks of this repository changed after they were shown. Review them again."
            )
        if await self.staged_digest() != staged:
            raise GitStale("The staged changes changed after they were shown. Review them again.")
        listed = await self._configuration()
        options = [*_without_hooks_path(FIXED), *filter_overrides(listed), *_signers(listed)]
        await self._run(
            [*options, "commit", "--quiet", "--file=-", "--cleanup=strip"],
            "commit",
            OUTPUT_BYTES,
            stdin=message.encode("utf-8", "surrogateescape"),
            environment={**environment, "GIT_EDITOR": "false", "GIT_TERMINAL_PROMPT": "0"},
            gently=True,
        )
        commit = await self.commit_of("HEAD")
        if commit is None:
            raise GitError("commit", "the new commit cannot be read")
        return commit

    async def _hooks_folder(self) -> Path:
        """Where the hooks are; `FIXED` hides it, so the configuration is read without it."""
        printed = await self._run(["rev-parse", "--git-path", "hooks"], "rev-parse", 64 * 1024)
        text = os.fsdecode(printed).rstrip("\n")
        return self.repository.top / text


def hooks_of(folder: Path) -> tuple[list[Hook], str]:
    """The executable hooks in a folder, and the digest of their names and contents."""
    hooks = []
    digest = hashlib.sha256()
    for name in HOOK_NAMES:
        path = folder / name
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or not os.access(path, os.X_OK):
                continue
            opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(opened, "rb") as file:
                content = file.read(HOOK_BYTES)
        except OSError:
            continue
        hooks.append(Hook(name, str(path)))
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return hooks, digest.hexdigest()


def _without_hooks_path(options: tuple[str, ...]) -> list[str]:
    """The fixed options, with the repository's hooks in force."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [part for pair in pairs if not pair[1].startswith("core.hooksPath=") for part in pair]


def _signers(listed: bytes) -> list[str]:
    """Options that put the user's signing programs in the place of the repository's."""
    trusted: dict[str, str] = {}
    foreign: dict[str, None] = {}
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        if key in SIGNERS:
            if scope in ("system", "global"):
                trusted[key] = value
            else:
                foreign[key] = None
    options = []
    for key in foreign:
        options += ["-c", f"{key}={trusted.get(key, SIGNERS[key])}"]
    return options
