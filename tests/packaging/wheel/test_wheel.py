"""sdist and wheel from a clean clone, installed into an empty environment without Node.

Needs a package index, so `make wheel-test` runs it, outside the isolated run.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NODE_PROGRAMS = {"node", "nodejs", "npm", "npx", "corepack", "claude"}
LIMIT_S = 900
"""Far more than a build takes, also while all other tests run on two cores."""

pytestmark = pytest.mark.timeout(LIMIT_S)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH with all of the machine's programs but Node and claude."""
    folder = tmp_path_factory.mktemp("tools")
    for place in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in NODE_PROGRAMS and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    assert shutil.which("node", path=str(folder)) is None
    return folder


def run(
    *command: str | Path, path: Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        # Python compiles what is imported, which is a small part of the packages.
        env={
            **os.environ,
            "PATH": str(path),
            "PIP_NO_INPUT": "1",
            "PIP_NO_COMPILE": "1",
            **(env or {}),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a user gets by `git clone`, with what is not committed yet on top."""
    clone = tmp_path_factory.mktemp("clone") / "fairlead"
    _git(ROOT, "clone", "--quiet", str(ROOT), str(clone))
    changed = _git(ROOT, "diff", "HEAD", "--name-only", "-z")
    new = _git(ROOT, "ls-files", "--others", "--exclude-standard", "-z")
    for name in filter(None, (changed + new).split("\0")):
        (clone / name).unlink(missing_ok=True)
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    assert not (clone / "src" / "fairlead" / "server" / "static").exists()
    return clone


def _git(cwd: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(clone: Path, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip wheel .` builds from the clean clone."""
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", out, clone, path=tools, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def sdist(clone: Path, wheel: Path, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist; the web app is there from the wheel, so it is not built twice."""
    out = tmp_path_factory.mktemp("sdist")
    code = f"import build_backend; build_backend.build_sdist({str(out)!r})"
    run(sys.executable, "-c", code, path=tools, cwd=clone, env={"PYTHONPATH": str(clone)})
    (built,) = out.glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def place(wheel: Path, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds the wheel and what it depends on."""
    venv = tmp_path_factory.mktemp("venv") / "v"
    run(sys.executable, "-m", "venv", venv, path=tools, cwd=venv.parent)
    run(venv / "bin/python", "-m", "pip", "install", "-q", wheel, path=tools, cwd=venv.parent)
    return venv / "bin"


def test_a_wheel_from_a_clean_clone_holds_the_web_app(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "fairlead/server/static/index.html" in names
    assert any(name.startswith("fairlead/server/static/assets/index-") for name in names)
    assert not [name for name in names if not name.startswith("fairlead")]


def test_the_metadata_names_the_project_s_pages(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [entry for entry in archive.namelist() if entry.endswith(".dist-info/METADATA")]
    metadata = archive.read(name).decode()
    assert "Project-URL: Homepage, https://" in metadata
    assert "Project-URL: Documentation, https://" in metadata


def test_a_wheel_can_be_built_from_the_sdist_without_node(
    sdist: Path, wheel: Path, tools: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (project,) = (tmp_path / "unpacked").iterdir()
    assert not (project / "web" / "node_modules").exists()
    code = "import build_backend; print(build_backend.get_requires_for_build_wheel())"
    asked = run(
        sys.executable, "-c", code, path=tools, cwd=project, env={"PYTHONPATH": str(project)}
    )
    assert asked.stdout == "[]\n"
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path)
    run(*pip, sdist, path=tools, cwd=tmp_path)
    (built,) = tmp_path.glob("*.whl")
    assert sorted(zipfile.ZipFile(built).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_the_installed_emulator_answers(place: Path, tools: Path, tmp_path: Path) -> None:
    claude = place / "fairlead-claude"
    env = {"HOME": str(tmp_path)}
    assert "(Claude Code)" in run(claude, "--version", path=tools, cwd=tmp_path, env=env).stdout
    assert run(claude, "-p", "help", path=tools, cwd=tmp_path, env=env).stdout.strip()


def test_the_installed_command_runs_the_demo(place: Path, tools: Path, tmp_path: Path) -> None:
    command = (place / "fairlead", "run", "--agent", "demo", "help")
    done = run(*command, path=tools, cwd=tmp_path, env={"HOME": str(tmp_path)})
    assert "tour" in done.stdout


def test_the_installed_server_gives_its_page_and_its_api(
    place: Path, tools: Path, tmp_path: Path
) -> None:
    with serving(place, tools, tmp_path) as link:
        base, code = link.split("/#code=")
        page = urllib.request.urlopen(base + "/", timeout=30).read().decode()
        script = page.split('src="/assets/')[1].split('"')[0]
        assert len(urllib.request.urlopen(f"{base}/assets/{script}", timeout=30).read()) > 10_000
        body = json.dumps({"code": code, "name": "test"}).encode()
        asked = urllib.request.Request(f"{base}/api/pair", body, {"Origin": base})
        token = json.load(urllib.request.urlopen(asked, timeout=30))["token"]
        headers = {"Authorization": f"Bearer {token}"}
        sessions = urllib.request.Request(f"{base}/api/sessions", headers=headers)
        assert urllib.request.urlopen(sessions, timeout=30).status == 200


@contextmanager
def serving(place: Path, tools: Path, folder: Path) -> Iterator[str]:
    """The link of a running server; it ends by SIGINT, with exit code 0."""
    command = [str(place / "fairlead"), "serve", "--agent", "demo", "--port", "0", "--no-browser"]
    env = {**os.environ, "PATH": str(tools), "HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, env=env, cwd=folder, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            links = (line.split()[1] for line in server.stdout if line.startswith("  open "))
            yield next(links)
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0
