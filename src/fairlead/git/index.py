"""Changes the index and the working tree: stage, unstage and discard, by file or by hunk.

As for reads, no program of the repository runs: no hook, monitor or filter. A file to which a
filter of the repository itself applies is refused, because without the filter git would store
other content than the user's own git. Paths are literal, so nothing but the named file is touched,
and a hunk is applied only if the file still has exactly this hunk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from fairlead.git.changes import Files
from fairlead.git.errors import GitError, GitStale
from fairlead.git.formats.raw_hunks import RawPatch, split_patch
from fairlead.git.reader import (
    BIG_FILE,
    DIFF,
    FIXED,
    OUTPUT_BYTES,
    GitReader,
    filter_overrides,
    filter_settings,
    literal,
)

__all__ = ["GitIndex", "content_digest"]

ONE_FILE = ("--no-renames",)


class GitIndex(GitReader):
    """The index and the working tree of one repository."""

    async def stage(self, paths: Sequence[str]) -> None:
        """Stage everything of these files: new, changed or deleted."""
        await self._refuse_filters(paths)
        await self._write("add", "--all", "--", *map(literal, paths))

    async def unstage(self, paths: Sequence[str]) -> None:
        """Make the index of these files equal to the last commit; the files stay as they are."""
        for path in paths:
            _check_inside(path)
        await self._write("reset", "--quiet", "--", *map(literal, paths))

    async def hunks(self, path: str, *, staged: bool) -> RawPatch:
        """The hunks of one file: the index against the last commit, or the file against the index."""
        cached = ("--cached",) if staged else ()
        printed = await self.read("diff", *DIFF, *ONE_FILE, *cached, "--", literal(path))
        return split_patch(printed)

    async def stage_hunk(self, path: str, digest: str) -> None:
        """Stage one hunk of a file."""
        await self._refuse_filters([path])
        patch = await self._hunk(path, digest, staged=False)
        await self._apply(patch, "--cached")

    async def unstage_hunk(self, path: str, digest: str) -> None:
        """Take one hunk out of the index; the file stays as it is."""
        patch = await self._hunk(path, digest, staged=True)
        await self._apply(patch, "--cached", "--reverse")

    async def discard_hunk(self, path: str, digest: str) -> None:
        """Undo one hunk in the file; the index stays as it is."""
        await self._refuse_filters([path])
        patch = await self._hunk(path, digest, staged=False)
        await self._apply(patch, "--reverse")

    async def discard(self, path: str, *, untracked: bool, content: str, files: Files) -> None:
        """Make a file equal to the index, or delete it if git does not know it.

        `content` is the digest of what the user agreed to lose (`content_digest`).
        """
        await self._refuse_filters([path])
        if content_digest(files, path) != content:
            raise GitStale("The file changed after the list was shown. Review what would be lost.")
        if untracked:
            await self._write("clean", "--force", "--quiet", "--", literal(path))
        else:
            await self._write("checkout-index", "--force", "--", path)

    async def _hunk(self, path: str, digest: str, *, staged: bool) -> bytes:
        patch = (await self.hunks(path, staged=staged)).only(digest)
        if patch is None:
            raise GitStale("The file has changed, so this hunk no longer exists. Try again.")
        return patch

    async def _apply(self, patch: bytes, *how: str) -> None:
        await self._write("apply", "--whitespace=nowarn", "--recount", *how, "-", stdin=patch)

    async def _write(self, command: str, *arguments: str, stdin: bytes | None = None) -> None:
        options = [*FIXED, *filter_overrides(await self._configuration())]
        await self._run(
            [*options, command, *arguments], command, OUTPUT_BYTES, stdin=stdin, gently=True
        )

    async def _refuse_filters(self, paths: Sequence[str]) -> None:
        """Refuse files to which a filter applies that the repository itself defines."""
        for path in paths:
            _check_inside(path)
        _, foreign = filter_settings(await self._configuration())
        names = {key.removeprefix("filter.").rpartition(".")[0] for key in foreign}
        if not names:
            return
        printed = await self.read("check-attr", "-z", "filter", "--", *paths)
        fields = printed.decode("utf-8", "surrogateescape").split("\0")
        for name in fields[2::3]:
            if name in names:
                raise GitError(
                    "add",
                    f"the repository's own configuration defines the filter {name!r} for this file. "
                    "Filters are programs, and this page runs none. Use git in a terminal",
                )


def _check_inside(path: str) -> None:
    """Refuse what is not the path of a file below the root of the working tree."""
    if set(path.removesuffix("/").split("/")) & {"", ".", ".."}:
        raise GitError("add", f"{path!r} is not a path in this repository")


def content_digest(files: Files, path: str) -> str:
    """The digest of a file's content; of a file that is not there or is too large, of its size."""
    size = files.size(path)
    content = None if size is None else files.read(path, BIG_FILE)
    return hashlib.sha256(content if content is not None else repr(size).encode()).hexdigest()
