"""The context of the tools: the project, the version, the files that were read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.session import Workspace

__all__ = ["ToolContext"]


class ToolContext(Struct):
    """Shared by all tools of a session."""

    profile: Profile
    workspace: Workspace
    seen: dict[tuple[str, str], float] = field(default_factory=dict)
    """(Owner, path) -> the modification time when that owner last read or wrote the file."""
    parts: set[tuple[str, str]] = field(default_factory=set)
    """Those of which the owner last read only a part."""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def cwd(self) -> Path:
        return Path(self.workspace.cwd)

    def path(self, path: object) -> Path:
        """An absolute path from a path of the model."""
        return Path(os.path.normpath(self.cwd / os.path.expanduser(str(path))))

    def relative(self, path: Path) -> str:
        """The path for the model: relative inside the project, absolute outside."""
        inside = path.is_relative_to(self.cwd)
        return str(path.relative_to(self.cwd)) if inside else str(path)

    def remember(self, owner: str, path: Path, *, part: bool = False) -> None:
        """Note that the model knows a file, or a part of it."""
        if path.exists():
            self.seen[owner, str(path)] = path.stat().st_mtime
            (self.parts.add if part else self.parts.discard)((owner, str(path)))

    def has_seen(self, owner: str, path: Path) -> bool:
        return (owner, str(path)) in self.seen

    def knows_all(self, owner: str, path: Path) -> bool:
        """Whether the last look at the file was at all of it."""
        return self.has_seen(owner, path) and (owner, str(path)) not in self.parts

    def child_environment(self) -> Mapping[str, Any]:
        return {**self.workspace.environment, **self.environment}
