"""Secrets of the server: in no log, no file, no answer, and not in the agent's environment."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.server.redaction import Redacting, log_to, redacted
from tests.server.conftest import Served
from tests.server.dumping_agent import dumped, dumper
from tests.server.server_harness import ServerHarness
from tests.waiting import until

ROOT = Path(__file__).parents[3]

CANARIES = {
    "a token that was guessed": "canary-Guess-" + "g" * 30,
    "a token in an address": "canary-Query-" + "q" * 30,
    "a token in a cookie": "canary-Cookie-" + "c" * 29,
    "a token in a first message": "canary-Hello-" + "h" * 30,
    "a token in a subprotocol": "canary-Proto-" + "p" * 30,
    "a wrong code": "canary-Code-" + "d" * 20,
    "a path": "canary-Path-sk-ant-api03-zzzzzzzzzz",
    "a message nobody understands": "canary-Broken-" + "b" * 29,
    "a header": "canary-Header-" + "e" * 29,
    "a variable of the server": "canary-Env-" + "v" * 20,
}
"""What a user sends or sets that must not be found anywhere afterwards."""


def serve(folder: Path) -> subprocess.Popen[str]:
    env = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "src"),
        "DATABASE_PASSWORD": CANARIES["a variable of the server"],
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "fairlead.commands.main", "serve", "--no-browser", "--port", "0",
         "--agent", str(dumper(folder)), "--data", str(folder / "data"), "--root", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip


def http(base: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(base + path, body, names)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


async def misuse(base: str, token: str) -> list[bytes]:
    """Bring each canary in by its channel; gives the answers."""
    canaries = CANARIES
    answers = []
    for path, headers in (
        ("/api/sessions", {"Authorization": f"Bearer {canaries['a token that was guessed']}"}),
        (f"/api/sessions?token={canaries['a token in an address']}", {}),
        ("/api/sessions", {"Cookie": f"token={canaries['a token in a cookie']}"}),
        (f"/api/files?path=/{canaries['a path']}", {"Authorization": f"Bearer {token}"}),
        (f"/{canaries['a path']}.js", {}),
        ("/api/health", {"Authorization": f"Bearer {token}", "X-Secret": canaries["a header"]}),
    ):
        answers.append((await asyncio.to_thread(http, base, path, None, **headers))[1])
    wrong = json.dumps({"code": canaries["a wrong code"], "name": "x"}).encode()
    answers.append((await asyncio.to_thread(http, base, "/api/pair", wrong, Origin=base))[1])
    url = base.replace("http", "ws")
    for message in (
        {
            "type": "hello",
            "protocol": 1,
            "token": canaries["a token in a first message"],
            "client": "c",
        },
        {"type": canaries["a message nobody understands"], "token": canaries["a header"]},
    ):
        async with websockets.connect(url + "/ws", proxy=None) as socket:
            await socket.send(json.dumps(message))
            answers.append(str(await socket.recv()).encode())
    with pytest.raises(websockets.InvalidStatus):
        await websockets.connect(
            url + "/bridge",
            subprotocols=[f"fairlead.token.{canaries['a token in a subprotocol']}"],  # type: ignore[list-item]
            proxy=None,
        )
    return answers


async def test_R12_no_secret_that_came_by_any_way_is_found_afterwards(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    server = serve(tmp_path)
    assert server.stdout is not None
    link = ""
    while "/#code=" not in link:
        link = await asyncio.to_thread(server.stdout.readline)
        assert link, "it did not start"
    base, code = link.split()[-1].split("/#code=")
    body = json.dumps({"code": code, "name": "desk"}).encode()
    paired = json.loads((await asyncio.to_thread(http, base, "/api/pair", body, Origin=base))[1])
    try:
        answers = await misuse(base, paired["token"])
        async with websockets.connect(base.replace("http", "ws") + "/ws", proxy=None) as socket:
            await socket.send(json.dumps(
                {"type": "hello", "protocol": 1, "token": paired["token"], "client": "c"}
            ))  # fmt: skip
            new = {"kind": "new_session", "cwd": str(tmp_path / "project"), "prompt": "hello"}
            await socket.send(json.dumps({"type": "intent", "n": 1, "intent": new}))
            await until(lambda: was_prompted(tmp_path))
        data_files = found_files(tmp_path / "data")
    finally:
        server.send_signal(signal.SIGTERM)
        out, err = await asyncio.to_thread(server.communicate, None, 20)
    secrets = {**CANARIES, "a token": paired["token"], "a code": code}
    for name, secret in secrets.items():
        raw = secret.encode()
        for path, content in {**data_files, **found_files(tmp_path / "data")}.items():
            assert raw not in content, (name, path)
        assert secret not in out.replace(link, ""), name
        assert secret not in err, (name, err)
        if name not in ("a path", "a message nobody understands"):
            assert not any(raw in answer for answer in answers), name
    assert "Traceback" not in err


def was_prompted(folder: Path) -> bool:
    return any(each.get("stdin", {}).get("type") == "user" for each in dumped(folder))


def found_files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


SECRETS = {
    "Authorization: Bearer abc.def-ghi": "abc.def",
    "GET /#code=Zm9vYmFyYmF6 HTTP/1.1": "Zm9v",
    "https://x/y?token=abcdef&z=1": "abcdef",
    "protocol fairlead.token.abcdefgh refused": "abcdefgh",
    '{"token": "hunter2", "n": 1}': "hunter2",
    "ANTHROPIC_API_KEY=sk-ant-api03-abcdefgh": "abcdefgh",
    "AWS_SECRET_ACCESS_KEY: abcd/efgh+1": "abcd/",
    "password='correct horse'": "correct",
    "the key sk-ant-api03-abcdefghij is wrong": "abcdefghij",
    "ghp_abcdefghijklmnop": "abcdefgh",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.abc": "eyJzdWIi",
    f"device {'Ab-_' * 10}xyz came": "Ab-_Ab",
}


@pytest.mark.parametrize("text", SECRETS)
def test_R12_what_looks_like_a_secret_is_blacked_out(text: str) -> None:
    assert SECRETS[text] not in redacted(text)
    assert "[removed]" in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "session 3f2c0f5e-1111-4111-8111-111111111111 did not start: no such file",
        "cannot listen on 127.0.0.1:8787: Address already in use",
        "invalid or expired token",
        "a" * 64,
        "/home/somebody/project/src/tokens/keys.py:12",
    ],
)
def test_R12_what_a_person_needs_stays(text: str) -> None:
    assert redacted(text) == text


def test_R12_tracebacks_and_arguments_pass_the_same_way() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Redacting("%(message)s"))
    log = logging.Logger("a logger of its own")
    log.addHandler(handler)
    try:
        raise ValueError("Authorization: Bearer in-the-exception")
    except ValueError:
        log.exception("failed for %s", {"token": "in-the-arguments"})
    written = stream.getvalue()
    assert "Traceback" in written
    assert "in-the-exception" not in written
    assert "in-the-arguments" not in written


def test_R12_everything_that_is_logged_goes_through_one_handler() -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.StringIO()
    try:
        log_to(stream)
        assert len(root.handlers) == 1
        logging.getLogger("uvicorn.error").warning("GET /?token=secret-in-a-library")
        assert "secret-in-a-library" not in stream.getvalue()
        assert "[removed]" in stream.getvalue()
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    sources = [path.read_text() for path in (ROOT / "src/fairlead").rglob("*.py")]
    assert sum(text.count("basicConfig(") for text in sources) == 1


# T-27

KEPT_OUT = {
    "DATABASE_URL": "postgres://canary", "AWS_SECRET_ACCESS_KEY": "canary", "GITHUB_TOKEN": "canary",
    "SSH_AUTH_SOCK": "/canary", "FAIRLEAD_TOKEN": "canary", "OPENAI_API_KEY": "canary",
    "LD_PRELOAD": "", "PYTHONPATH": "/canary", "NODE_OPTIONS": "--require=canary",
    "BASH_ENV": "/canary", "CLAUDE_CODE_SSE_PORT": "1",
}  # fmt: skip


async def test_R13_the_agent_gets_no_variable_and_no_file_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEPT_OUT.items():
        monkeypatch.setenv(name, value)
    secret = tmp_path / "open.txt"
    secret.write_text("secret")
    held = os.open(secret, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        async with ServerHarness(tmp_path, agent=dumper(tmp_path)) as harness:
            await harness.new()
            await harness.until(lambda: dumped(tmp_path))
            (start, *_) = dumped(tmp_path)
    finally:
        os.close(held)
    assert not set(start["env"]) & set(KEPT_OUT)
    assert not [each for each in start["env"].values() if "canary" in each]
    # 0 to 2, and the one that lists the folder of descriptors itself.
    assert len(start["fds"]) <= 4
    assert start["fds"][:3] == [0, 1, 2]
    assert held not in start["fds"]


async def test_R13_what_the_operator_names_passes(served: Served) -> None:
    client = await served.client()
    session = await client.new_session("hello")
    await client.ending(session)
    live: Any = served.service.registry.sessions.loaded(session)
    options = live.client.options
    assert set(options.env) == set()
    assert options.inherit_env is True
