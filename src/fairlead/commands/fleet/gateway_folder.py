"""The folder of a gateway."""

from __future__ import annotations

from pathlib import Path

from fairlead.commands.serving.checks import default_data_folder

__all__ = ["default_gateway_folder"]


def default_gateway_folder() -> Path:
    """The data folder of `fairlead gateway` without --data: a machine may be both."""
    folder = default_data_folder()
    return folder.with_name(f"{folder.name}-gateway")
