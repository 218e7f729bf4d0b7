"""The folder of a CLI's settings and sessions, as a pure function of its environment.

All code that reads the CLI's own sessions or settings gets the folder from here. Measured on 2.1.38
and 2.1.325: the variable replaces `~/.claude` as a whole, and `.claude.json` is then inside it
instead of in the home folder.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from fairlead.errors import OptionError

__all__ = ["VARIABLE", "config_folder", "projects_folder", "state_file"]

VARIABLE = "CLAUDE_CONFIG_DIR"


def config_folder(environment: Mapping[str, str], home: str = "") -> str:
    """The folder of the CLI's settings; `home` is used if the environment has no HOME.

    A relative value is refused: the CLI would resolve it against the folder of each session, so
    that no two sessions would share their settings. An empty value is ignored (the host never
    passes an empty one on).
    """
    folder = environment.get(VARIABLE, "").strip()
    if not folder:
        return posixpath.join(environment.get("HOME") or home, ".claude")
    if not posixpath.isabs(folder):
        raise OptionError(
            VARIABLE,
            f"{folder!r} is a relative path, which the CLI resolves in each session's folder.",
            "Set it to an absolute path, or unset it.",
        )
    return folder


def projects_folder(environment: Mapping[str, str], home: str = "") -> str:
    """The folder of the CLI's own session files."""
    return posixpath.join(config_folder(environment, home), "projects")


def state_file(environment: Mapping[str, str], home: str = "") -> str:
    """The CLI's `.claude.json`: next to `~/.claude`, or inside the configured folder."""
    if environment.get(VARIABLE, "").strip():
        return posixpath.join(config_folder(environment, home), ".claude.json")
    return posixpath.join(environment.get("HOME") or home, ".claude.json")
