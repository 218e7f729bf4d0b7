"""The restrictions of the server's operator for every session: modes, folders, environment.

Clients cannot select `bypassPermissions`. It exists only as an option for starting the server
(rule R10), and then applies to all sessions. Pure except for checks of folders, because the file
system determines where a path leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fairlead.server.files import Folders
from fairlead.server.refusal import Refusal
from fairlead.server.trust import TrustBook
from fairlead.server.worktree_settings import WorktreeSettings
from fairlead.wire import modes

if TYPE_CHECKING:
    from fairlead.permissions.guard import Guard

__all__ = ["MODES", "Policy"]

MODES = tuple(mode for mode in modes.MODES if mode != "bypassPermissions")
"""The modes that a client may select, from the least permissive to the most permissive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The restrictions that no client can change."""

    roots: tuple[Path, ...] = ()
    """Folders under which sessions may work; empty means the user's home."""
    mode: str = "default"
    """The mode of a new session that selects none."""
    mode_ceiling: str = "acceptEdits"
    """The most permissive mode that a client may select."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Additional environment variables of every CLI."""
    inherit_env: bool = True
    guard: Guard | None = None
    """Rules of the operator, which answer before a person is asked."""
    wide_scopes: bool = True
    """Whether an owner's answer may add rules to settings files."""
    suggestions: bool = True
    """Whether the CLI suggests the next prompt after each turn, with a request to the model."""
    opening: Folders = field(default_factory=Folders, repr=False, compare=False)
    """Opens the files and folders of sessions."""
    trust: TrustBook = field(default_factory=TrustBook, repr=False, compare=False)
    """Which repositories may run their own hooks and servers."""

    worktrees: WorktreeSettings = field(default_factory=WorktreeSettings, repr=False, compare=False)
    """Where new worktrees are made, and how they are prepared."""

    def check_mode(self, mode: str) -> str:
        """Return the mode if a client may select it; refuses otherwise."""
        mode = "default" if mode == "manual" else mode
        if mode == "bypassPermissions":
            raise Refusal(
                "forbidden",
                "Clients cannot disable permission checks; only the person who starts the server can.",
            )
        if mode not in MODES:
            raise Refusal(
                "bad_message", f"Unknown mode {mode!r}. The modes are {', '.join(MODES)}."
            )
        if not self.allows_mode(mode):
            message = f"The mode {mode!r} is more permissive than this server allows ({self.mode_ceiling})."
            raise Refusal("forbidden", message)
        return mode

    def allows_mode(self, mode: str) -> bool:
        """Whether clients may select a mode, and it is not above the ceiling."""
        ceiling = MODES.index(self.mode_ceiling) if self.mode_ceiling in MODES else 0
        return mode in MODES and MODES.index(mode) <= ceiling

    @property
    def folders(self) -> list[Path]:
        """The real paths of the folders under which sessions may work."""
        return [_real(root) for root in self.roots or (Path.home(),)]

    def check_folder(self, cwd: str) -> str:
        """The real path of a folder that a session may work in."""
        if not cwd or "\0" in cwd:
            raise Refusal("bad_message", "A session needs a folder to work in.")
        path = Path(cwd).expanduser()
        if not path.is_absolute():
            raise Refusal("bad_message", f"{cwd!r} is not an absolute path.")
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            raise Refusal("not_found", f"Folder {cwd!r} not found.") from None
        if not real.is_dir():
            raise Refusal("not_found", f"{cwd!r} is not a folder.")
        roots = self.folders
        # Compare whole components: `/home/me-evil` is not under `/home/me`.
        if not any(real == root or root in real.parents for root in roots):
            allowed = ", ".join(str(root) for root in roots)
            raise Refusal(
                "forbidden",
                f"{cwd!r} is outside the folders in which sessions may work: {allowed}.",
            )
        return str(real)


def _real(root: Path) -> Path:
    try:
        return root.resolve()
    except (OSError, RuntimeError):
        return root  # It is being replaced; files below it are checked when they are opened.
