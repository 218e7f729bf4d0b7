"""The build backend: hatchling's, with metadata that can be read without building anything.

Where pip asks, hatchling offers no `prepare_metadata_for_build_wheel`, because a build hook might
change the dependencies. pip then builds the whole wheel to read its metadata. Our hook changes
none, so the question is answered from `pyproject.toml` alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)
from hatchling.builders.wheel import WheelBuilder

from hatch_build import NODE

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What an editable install needs: no Node, for it does not build the web app."""
    return [one for one in hatchling.get_requires_for_build_editable() if one != NODE]


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: dict[str, Any] | None = None
) -> str:
    """Write the metadata of the wheel that `build_wheel` would make; returns the folder's name."""
    builder = WheelBuilder(str(Path.cwd()))
    folder = Path(metadata_directory, f"{builder.artifact_project_id}.dist-info")
    folder.mkdir(exist_ok=True)
    metadata = builder.config.core_metadata_constructor(builder.metadata)
    (folder / "METADATA").write_text(metadata, encoding="utf-8")
    return folder.name
