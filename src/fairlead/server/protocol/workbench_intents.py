"""The intents about worktrees, review comments and git. Types only.

`server/intents/worktree`, `server/intents/review` and `server/intents/git` carry them out.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from fairlead.server.protocol.intent import BaseIntent

__all__ = [
    "AddWorktree",
    "CommentVersion",
    "DeleteComment",
    "DiscardedFile",
    "FinishWorktree",
    "GitCommit",
    "GitDiscard",
    "GitStage",
    "PutComment",
    "ResolveComment",
    "SendReview",
    "SetWorktreeSetup",
    "WorktreeLosses",
    "Worktrees",
]


class AddWorktree(BaseIntent, frozen=True, kw_only=True, tag="add_worktree"):
    """Make a branch and check it out in a new folder, for a session that then starts there.

    The result has `cwd`, the folder in the new working tree that `cwd` names in the old one,
    `branch`, `base`, and under `copied` the listed files that were copied.
    """

    cwd: str
    name: str = ""
    """What the branch is for; the server makes the names of branch and folder from it."""
    base: str = ""
    """The branch to begin at; empty means the one that is checked out."""


class Worktrees(BaseIntent, frozen=True, kw_only=True, tag="worktrees"):
    """List the worktrees of a folder's repository, with its setup command; changes nothing.

    The result has `branch`, `branches`, `folder`, `setup`, `copy` and `worktrees`, or is empty
    outside of a repository.
    """

    cwd: str


class SetWorktreeSetup(BaseIntent, frozen=True, kw_only=True, tag="set_worktree_setup"):
    """Set the command that prepares a new worktree of this repository, and the files to copy."""

    role: ClassVar[str] = "owner"
    cwd: str
    setup: str = ""
    """Run by `/bin/sh` in the new worktree before the session starts."""
    copy: tuple[str, ...] = ()
    """Paths below the repository of files that git ignores, such as `.env`."""


class WorktreeLosses(BaseIntent, frozen=True, kw_only=True, tag="worktree_losses"):
    """What removing a worktree and its branch would lose; changes nothing.

    The result has `commits` that the base does not have, changed `files`, and `seen`, which
    `finish_worktree` needs for `discard`.
    """

    cwd: str
    """The folder of the worktree."""
    repository: str = ""
    """A folder of its repository; needed if the server does not know the worktree."""


class FinishWorktree(BaseIntent, frozen=True, kw_only=True, tag="finish_worktree"):
    """End the work in a worktree.

    `merge` and `rebase` bring its commits into the base branch, after uncommitted changes were
    committed with `message`; a conflict is refused with its `files`, and nothing changes. `keep`
    removes the folder and keeps the branch; uncommitted changes are committed first. `discard`
    (owner) deletes folder and branch; `seen` shows that the user saw what is lost.
    """

    cwd: str
    how: str
    repository: str = ""
    message: str = ""
    seen: str = ""


class PutComment(BaseIntent, frozen=True, kw_only=True, tag="put_comment"):
    """Store a new review comment, or change the text of a comment that was not sent yet.

    A change makes the sending device the comment's author.
    """

    session: str
    id: str
    text: str
    version: int = 0
    """The version that the user saw; 0 for a new comment."""
    file: str = ""
    """The file's id in the list of changes or files; with the fields below, of a new comment."""
    tree: str = "repository"
    """What the path of the file is relative to: `repository`, or `folder` of the session."""
    side: str = "new"
    """`new` for lines of the file, `old` for lines that it had before."""
    start: int = 0
    end: int = 0
    code: str = ""
    """The lines."""


class DeleteComment(BaseIntent, frozen=True, kw_only=True, tag="delete_comment"):
    """Delete a review comment."""

    session: str
    id: str
    version: int


class ResolveComment(BaseIntent, frozen=True, kw_only=True, tag="resolve_comment"):
    """Mark a review comment as resolved, or as open again."""

    session: str
    id: str
    resolved: bool


class CommentVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comment as the user saw it."""

    id: str
    version: int


class SendReview(BaseIntent, frozen=True, kw_only=True, tag="send_review"):
    """Queue one prompt that contains these comments, each with its path, lines and code."""

    session: str
    uuid: str
    """The uuid of the prompt."""
    comments: tuple[CommentVersion, ...]
    text: str = ""
    """What is written above the comments."""


class GitStage(BaseIntent, frozen=True, kw_only=True, tag="git_stage"):
    """Stage or unstage files, or one hunk of one file."""

    session: str
    files: tuple[str, ...]
    """The ids of the files."""
    unstage: bool = False
    hunk: str | None = None
    """The digest of a hunk; with it, `files` has one file."""


class DiscardedFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file whose changes are to be lost, as the user saw them."""

    file: str
    digest: str
    """Of the file's content, or of the hunk."""


class GitDiscard(BaseIntent, frozen=True, kw_only=True, tag="git_discard"):
    """Discard what is not staged: of files, or one hunk of one file. It cannot be undone."""

    role: ClassVar[str] = "owner"
    session: str
    files: tuple[DiscardedFile, ...]
    hunk: bool = False
    """Whether the digest is that of a hunk."""


class GitCommit(BaseIntent, frozen=True, kw_only=True, tag="git_commit"):
    """Commit what is staged. The repository's hooks run."""

    session: str
    message: str
    hooks: str
    """The digest of the hooks that the user saw."""
    staged: str
    """The digest of the staged changes that the user saw."""
