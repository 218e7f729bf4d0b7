"""The npm packages of each CLI version, with the SHA-512 of their bytes.

`cli_pins.json` has the form version -> platform ("any" for all) -> package@version -> integrity, in
npm's own notation. The values come from downloaded packages and, for other platforms, from the
registry. `FAIRLEAD_CLI_PINS` names another file of the same form, for versions that Fairlead does
not know.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from fairlead.errors import OptionError, ProcessError

__all__ = ["MORE_PINS", "check_integrity", "packages_of"]

MORE_PINS = "FAIRLEAD_CLI_PINS"

Pins = Mapping[str, Mapping[str, Mapping[str, str]]]


def packages_of(version: str, platform: str) -> dict[str, str]:
    """Each package@version that a CLI consists of on this platform, with its integrity."""
    pins = _known_pins()
    if version not in pins:
        raise OptionError(
            "version",
            f"there is no hash of Claude Code {version}, and a download that cannot be verified "
            "is not started.",
            f"Use one of {', '.join(pins)}, or name a file with its hashes in {MORE_PINS}: "
            '{"VERSION": {"any": {"PACKAGE@VERSION": "sha512-…"}}}.',
        )
    pin = pins[version]
    if platform not in pin and len(pin) > 1:
        raise OptionError(
            "version",
            f"there is no hash of Claude Code {version} for {platform}, and a download that cannot "
            "be verified is not started.",
            f"Use another version, or name a file with its hashes in {MORE_PINS}.",
        )
    return {**pin.get("any", {}), **pin.get(platform, {})}


def check_integrity(package: str, file: Path, integrity: str) -> None:
    """Raise `ProcessError` unless the file has exactly the bytes that were pinned."""
    digest = hashlib.sha512()
    with file.open("rb") as opened:
        while chunk := opened.read(1024 * 1024):
            digest.update(chunk)
    actual = "sha512-" + base64.b64encode(digest.digest()).decode()
    if actual != integrity:
        raise ProcessError(
            f"{package} was downloaded, but its hash is not the one that Fairlead pins, so it was "
            f"deleted and not started.\n  expected {integrity}\n  found    {actual}\n"
            "Check the registry that npm uses (npm config get registry) and any proxy before it."
        )


def _known_pins() -> Pins:
    pins: Pins = json.loads(files("fairlead.testing").joinpath("cli_pins.json").read_text("utf-8"))
    more = os.environ.get(MORE_PINS)
    if not more:
        return pins
    try:
        return {**pins, **json.loads(Path(more).read_text("utf-8"))}
    except (OSError, ValueError) as problem:
        raise OptionError(MORE_PINS, f"cannot be read: {problem}.") from None
