"""Where a tool works: the project, the version, what was read. Shared by all tools of a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairlead.emulator.profile import Profile
from fairlead.emulator.session import Place

__all__ = ["Bench"]


@dataclass(slots=True)
class Bench:
    """The surroundings of a tool."""

    profile: Profile
    place: Place
    seen: dict[tuple[str, str], float] = field(default_factory=dict)
    """(Owner, path) -> the modification time when that owner last read or wrote the file."""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def cwd(self) -> Path:
        return Path(self.place.cwd)

    def path(self, given: object) -> Path:
        """A path of the model, absolute."""
        return Path(os.path.normpath(self.cwd / os.path.expanduser(str(given))))

    def relative(self, path: Path) -> str:
        """As the model is shown it: relative inside the project, absolute outside."""
        inside = path.is_relative_to(self.cwd)
        return str(path.relative_to(self.cwd)) if inside else str(path)

    def remember(self, owner: str, path: Path) -> None:
        if path.exists():
            self.seen[owner, str(path)] = path.stat().st_mtime

    def has_seen(self, owner: str, path: Path) -> bool:
        return (owner, str(path)) in self.seen

    def child_environment(self) -> Mapping[str, Any]:
        return {**self.place.environment, **self.environment}
