"""Checks that the packages for a fleet are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fairlead.commands.serving.checks import default_data_folder
from fairlead.errors import UsageError

__all__ = ["default_gateway_folder", "need_fleet_packages"]


def need_fleet_packages() -> None:
    """Raise `UsageError` if the packages are not installed."""
    if importlib.util.find_spec("nats") is None:
        raise UsageError(
            "A fleet needs packages that are not installed. Run `pip install 'fairlead[fleet]'`."
        )


def default_gateway_folder() -> Path:
    """The data folder of `fairlead gateway` without --data: a machine may be both."""
    folder = default_data_folder()
    return folder.with_name(f"{folder.name}-gateway")
