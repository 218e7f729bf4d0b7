"""Profiles in the commands: `fairlead serve` lists them, `fairlead doctor` checks them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.forked_programs import program
from tests.launching import python_launcher

SECRET = "canary value of a variable"

AGENT = """
import json, os, sys
if "--version" in sys.argv:
    print("2.1.325 (Claude Code)")
elif sys.argv[1:] == ["auth", "status"]:
    login = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR", "/nowhere"), "login")
    print(json.dumps({"loggedIn": os.path.exists(login)}))
"""


def settle(folder: Path) -> tuple[Path, dict[str, str]]:
    """A data folder with two profiles, of which one is logged in; and an environment."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    for name in ("work", "side"):
        (folder / name).mkdir(mode=0o700)
    (folder / "work" / "login").touch()
    (data / "serve.toml").write_text(
        f'[profiles.work]\nconfig_dir = "{folder}/work"\nenv = {{ MINE = "{SECRET}" }}\n'
        f'[profiles.side]\nconfig_dir = "~/side"\n'
        f'[profiles.later]\nconfig_dir = "~/later"\n'
    )
    return data, {"PATH": os.environ["PATH"], "HOME": str(folder)}


def agent(folder: Path) -> Path:
    script = folder / "agent.py"
    script.write_text(AGENT)
    return python_launcher(folder / "claude-asked", script)


def doctor(folder: Path, data: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program("fairlead.commands.main"), "doctor", "--agent", str(agent(folder)),
         "--data", str(data)],
        capture_output=True, text=True, timeout=120, check=False, env=env,
    )  # fmt: skip


def test_B123_serve_lists_the_profiles_with_their_logins(tmp_path: Path) -> None:
    data, env = settle(tmp_path)
    server = subprocess.Popen(
        [*program("fairlead.commands.main"), "serve", "--no-browser", "--port", "0",
         "--agent", str(agent(tmp_path)), "--data", str(data), "--root", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        lines = []
        while "#code=" not in (line := server.stdout.readline()):
            assert line, "the server ended"
            lines.append(line)
        printed = "".join(lines)
        assert f"profile work in {tmp_path}/work: logged in" in printed
        assert f"profile side in {tmp_path}/side: not logged in" in printed
        assert f"run `CLAUDE_CONFIG_DIR={tmp_path}/side" in printed
        assert f"profile later in {tmp_path}/later: not used yet" in printed
        command_line = Path(f"/proc/{server.pid}/cmdline").read_bytes()
        assert SECRET.encode() not in command_line
    finally:
        server.send_signal(signal.SIGTERM)
        rest, errors = server.communicate(timeout=60)
    assert SECRET not in printed + rest + errors


def test_B123_doctor_checks_each_profile_and_says_what_to_do(tmp_path: Path) -> None:
    data, env = settle(tmp_path)
    (tmp_path / "side").chmod(0o755)
    checked = doctor(tmp_path, data, env)
    assert checked.returncode == 1
    assert "✓ profile work: logged in" in checked.stdout
    assert f"✗ profile side: others can read {tmp_path}/side" in checked.stdout
    assert f"Run `chmod 700 {tmp_path}/side`" in checked.stdout
    assert "✗ profile side: not logged in" in checked.stdout
    assert "and type /login" in checked.stdout
    assert f"✓ profile later: {tmp_path}/later does not exist yet" in checked.stdout
    assert SECRET not in checked.stdout + checked.stderr


def test_B123_doctor_finds_shared_folders_wrong_settings_and_an_open_file(tmp_path: Path) -> None:
    data, env = settle(tmp_path)
    (data / "profiles.json").write_text("[]")
    (data / "profiles.json").chmod(0o644)
    (data / "serve.toml").write_text(
        f'[profiles.a]\nconfig_dir = "{tmp_path}/office"\npass_env = ["MISSING_ONE"]\n'
        f'[profiles.b]\nconfig_dir = "{tmp_path}/office/inside"\n'
    )
    checked = doctor(tmp_path, data, env)
    assert "must not be the same or inside each other" in checked.stdout
    assert "pass_env names MISSING_ONE, which is not set here" in checked.stdout
    assert "Run `chmod 600" in checked.stdout
    (data / "serve.toml").write_text("[profiles.a]\n")
    checked = doctor(tmp_path, data, env)
    assert checked.returncode == 1
    assert "needs a folder for the CLI" in checked.stdout
