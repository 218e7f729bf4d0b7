"""Plays a host script to a process: to a real CLI with a scripted model API, or to the emulator.

Both get the same files, flags, replies and host; see `host` for what the host does.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from fairlead.model_api.api import ModelApi
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import Failure, Reply, reply
from fairlead.model_api.request import ModelRequest
from fairlead.model_api.script import Step, load, when
from fairlead.testing.emulated import PROTOCOL_FLAGS
from fairlead.testing.hermetic import hermetic_env
from fairlead.testing.real_cli import ensure
from tests.e2e.conversations.host import Host
from tests.e2e.conversations.host_script import Data, HostScript
from tests.e2e.real_cli.compiled import compiled
from tests.forked_programs import program

__all__ = ["play_emulated", "play_real"]

SUGGESTED = "A scripted answer (suggestion)."
"""What the model API answers to the request for a suggestion."""


async def play_real(script: HostScript, version: str) -> list[Data]:
    """The lines of the real CLI, with its exit code as the last one."""
    with _root(script) as root:
        async with ModelApi() as api:
            gates: list[tuple[Gate, int]] = []
            api.push(*_model_steps(script, root, gates))
            env = {**hermetic_env(root / "home", api.base_url), **script.env}
            command = [str(compiled(ensure(version)).executable), *_flags(script, version, root)]
            host = Host(script, root, command, env, "real")
            host.gates = gates
            return await host.run()


async def play_emulated(script: HostScript, version: str) -> list[Data]:
    """The lines of the emulator of this version."""
    with _root(script) as root:
        path = root / "script.json"

        def write(segment: int) -> None:
            """The replies of this segment and of those after it."""
            queue = [
                {key: value for key, value in entry.items() if key != "segment"}
                for entry in script.replies
                if entry["segment"] >= segment
            ]
            text = json.dumps({"queue": queue, "unmatched": "done", "suggest": SUGGESTED})
            path.write_text(text.replace("{root}", str(root)))

        write(0)
        env = {
            **hermetic_env(root / "home", "http://127.0.0.1:9"),
            "FAIRLEAD_EMULATE": version,
            "FAIRLEAD_SCRIPT": str(path),
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            **script.env,
        }
        command = [*program("fairlead.emulator"), *_flags(script, version, root)]
        host = Host(script, root, command, env, "emulated")
        host.before_restart = write
        return await host.run()


def _flags(script: HostScript, version: str, root: Path) -> list[str]:
    new = script.new_flags if version == "2.1.325" else []
    return [flag.replace("{root}", str(root)) for flag in (*PROTOCOL_FLAGS, *script.flags, *new)]


@contextlib.contextmanager
def _root(script: HostScript) -> Iterator[Path]:
    # A short path: 2.1.325 opens a socket below its home, whose path may have 107 bytes.
    root = Path(tempfile.mkdtemp(prefix="fx-")).resolve()
    try:
        for folder in ("project", "home/.claude", "outside", "home/tmp"):
            (root / folder).mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("stdio_server.py"), root / "stdio_server.py")
        for name, text in script.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{root}", str(root)).replace("{python}", sys.executable))
            if text.startswith("#!"):
                path.chmod(0o755)
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


# The model


def _model_steps(script: HostScript, root: Path, gates: list[tuple[Gate, int]]) -> list[Step]:
    steps: list[Step] = []
    agents: set[str] = set()
    for entry in script.replies:
        fields = json.loads(json.dumps(entry).replace("{root}", str(root)))
        agent = fields.pop("for", None)
        answer = _answer(fields, gates)
        if agent is None:
            steps.append(answer)
        else:
            agents.add(agent)
            steps.append(when(answer, that=_is_of(agent)))
    done = reply("Done.")
    return [*steps, *(when(done, that=_is_of(agent), times=None) for agent in sorted(agents))]


def _is_of(agent: str) -> Callable[[ModelRequest], bool]:
    """Whether a request belongs to the subagent whose prompt contains this text."""

    def matches(request: ModelRequest) -> bool:
        messages = request.body.get("messages") or [{}]
        first = json.dumps(messages[0].get("content", ""))
        return agent in first

    return matches


def _answer(fields: Data, gates: list[tuple[Gate, int]]) -> Reply | Failure:
    fields.pop("segment", None)
    waits = fields.pop("waits", [])
    if "piece" in fields:
        fields["delta_chars"] = fields.pop("piece")
    (answer,) = load([fields])
    assert isinstance(answer, Reply | Failure)
    for wait in waits:
        gate = Gate()
        gates.append((gate, wait.get("inputs", 0)))
        changes: Data = {"hold": gate}
        if isinstance(answer, Reply) and wait["before"]:
            changes["hold_after"] = wait["before"]
        answer = answer.but(**changes)
    return answer
