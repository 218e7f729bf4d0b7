"""The permission modes and the efforts of the CLI, in its own spelling.

Options, permissions, the server's policy, the emulator and the web app take them from here.
`permissions` defines the effect of a mode.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

__all__ = ["EFFORTS", "MODES", "Effort", "ModeName"]

ModeName: TypeAlias = Literal[
    "plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"
]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]

MODES: tuple[str, ...] = get_args(ModeName)
"""Every permission mode, the most restrictive first."""

EFFORTS: tuple[str, ...] = get_args(Effort)
"""Every effort, lowest first."""
