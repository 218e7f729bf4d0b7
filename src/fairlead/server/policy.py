"""What the operator of a server has laid down for every session: modes, folders, environment.

`bypassPermissions` is no mode a client can ask for; it exists only as an option of whoever
starts the server (rule R10), and then as the mode of all sessions. Pure but for looking at
folders, because a path means what the file system says it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairlead.permissions.guard import Guard
from fairlead.server.refusal import Refusal

__all__ = ["MODES", "Policy"]

MODES = ("plan", "dontAsk", "default", "acceptEdits", "auto")
"""The modes a client may ask for, from the one that lets least happen unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The bounds that no client can move."""

    roots: tuple[Path, ...] = ()
    """Folders under which sessions may work; none means the user's home."""
    mode: str = "default"
    """The mode of a new session that asks for none."""
    mode_ceiling: str = "acceptEdits"
    """The mode that lets most happen unasked which a client may choose."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to those of every CLI."""
    inherit_env: bool = True
    guard: Guard | None = None
    """Rules of the operator that answer before a person is asked."""
    wide_scopes: bool = True
    """Whether an owner may write rules to settings files by an answer."""

    def check_mode(self, mode: str) -> str:
        """The mode, if a client may ask for it."""
        mode = "default" if mode == "manual" else mode
        if mode == "bypassPermissions":
            raise Refusal(
                "forbidden",
                "no client can switch permissions off; that is for who starts the server",
            )
        if mode not in MODES:
            raise Refusal("bad_message", f"there is no mode {mode!r}; {', '.join(MODES)}")
        if not self.allows_mode(mode):
            said = f"the mode {mode!r} is above what this server allows ({self.mode_ceiling})"
            raise Refusal("forbidden", said)
        return mode

    def allows_mode(self, mode: str) -> bool:
        """Whether a mode is one that clients may choose, and not above the ceiling."""
        ceiling = MODES.index(self.mode_ceiling) if self.mode_ceiling in MODES else 0
        return mode in MODES and MODES.index(mode) <= ceiling

    @property
    def folders(self) -> list[Path]:
        """The folders under which sessions may work, as the file system knows them."""
        return [root.resolve() for root in self.roots or (Path.home(),)]

    def check_folder(self, cwd: str) -> str:
        """The real path of a folder that a session may work in."""
        if not cwd or "\0" in cwd:
            raise Refusal("bad_message", "a session needs a folder to work in")
        path = Path(cwd).expanduser()
        if not path.is_absolute():
            raise Refusal("bad_message", f"{cwd!r} is not an absolute path")
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError):
            raise Refusal("not_found", f"there is no folder {cwd!r}") from None
        if not real.is_dir():
            raise Refusal("not_found", f"{cwd!r} is not a folder")
        roots = self.folders
        # Whole components: `/home/me-evil` is not under `/home/me` (finding 8 of the threats).
        if not any(real == root or root in real.parents for root in roots):
            allowed = ", ".join(str(root) for root in roots)
            raise Refusal("forbidden", f"sessions may work under {allowed}; {cwd!r} is not there")
        return str(real)
