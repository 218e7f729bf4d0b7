"""Reads git repositories that may be hostile.

A repository can name programs in its own configuration: file system monitors, filters, diff
drivers, hooks, transports. Reading a repository must run none of them (docs/git.md, rules G1 to
G5). `repository` finds a repository from its files, `reader` runs the real `git` with everything
of that kind disabled, `changes` answers the questions of the server, and `formats` parses what
git prints; `formats` is pure.
"""

from __future__ import annotations

from fairlead.git.changes import Changes, changes_since, file_patch
from fairlead.git.errors import GitError, GitMissing
from fairlead.git.formats.changed import ChangedFile
from fairlead.git.formats.patch import Hunk, Line, Patch
from fairlead.git.formats.status import Status
from fairlead.git.reader import GitReader
from fairlead.git.repository import Repository, find_repository

__all__ = [
    "ChangedFile",
    "Changes",
    "GitError",
    "GitMissing",
    "GitReader",
    "Hunk",
    "Line",
    "Patch",
    "Repository",
    "Status",
    "changes_since",
    "file_patch",
    "find_repository",
]
