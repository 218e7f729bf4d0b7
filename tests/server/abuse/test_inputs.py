"""Attacks by input: flags in texts, path traversal, too many fields, compression bombs, odd
texts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import time
import urllib.parse
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairlead.server.files import Folders, OutsideRoots, read_below
from fairlead.server.http.library import ServerLibrary
from fairlead.server.http.search.file_search import Finder, folders_like
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import Intent, NewSession, Resume, SetEffort, SetModel
from fairlead.server.protocol.messages import FromClient
from fairlead.server.view.session_rows import listed
from fairlead.store.tables.sessions import SessionRow
from tests.matrix import examples
from tests.server.conftest import Served
from tests.server.dumping_agent import dumped, dumper
from tests.server.endpoints import ENDPOINTS, enter
from tests.server.raw_requests import ask, frame, status_of, upgrade
from tests.server.server_harness import ServerHarness

CANARY = "the canary sings"

# T-07


KNOWN_FLAGS = {
    "--output-format", "--input-format", "--verbose", "--permission-prompt-tool", "--model",
    "--effort", "--permission-mode", "--session-id", "--resume", "--max-turns", "--max-budget-usd",
    "--include-partial-messages", "--replay-user-messages", "--print", "-p", "--continue",
    "--fork-session", "--resume-session-at", "--setting-sources", "--disallowedTools",
    "--allowedTools", "--mcp-config", "--include-hook-events", "--prompt-suggestions",
}  # fmt: skip


nasty = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "--mcp-config={}", "-p", "--dangerously-skip-permissions", "; touch x", "$(touch x)",
            "`touch x`", "a b", "a\nb", "a\0b", "'", '"', "\\", "--", "|", "&", "*", "~", "=",
            "model --settings=x", "\u202e", "é", "\ud7ff", "x" * 5_000, "", " ", "-",
        ]
    ),
)  # fmt: skip


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_R9_no_word_of_a_client_becomes_a_flag_or_a_command(tmp_path: Path, data: Any) -> None:
    folder = tmp_path / uuid.uuid4().hex
    folder.mkdir()
    fields = {
        name: data.draw(nasty, label=name)
        for name in ("prompt", "model", "title", "cwd_tail", "resume", "effort")
        if name == "prompt" or data.draw(st.booleans(), label=f"with {name}")
    }
    asyncio.run(start_with(folder, fields))
    made = {each.name for each in folder.iterdir()}
    assert made <= {"agent.log", "claude-dumper", "data", "dump.log", "dumper.py", "project"}
    assert [each.name for each in (folder / "project").iterdir()] == ["inner"]


async def start_with(folder: Path, fields: dict[str, str]) -> None:
    async with ServerHarness(folder, agent=dumper(folder)) as harness:
        inner = harness.project / "inner"
        inner.mkdir()
        given_cwd = str(harness.project) + fields.get("cwd_tail", "")
        new = NewSession(
            cwd=given_cwd, prompt=fields["prompt"] or None,
            model=fields.get("model"), title=fields.get("title"), effort=fields.get("effort"),
        )  # fmt: skip
        result = await harness.act(new)
        intents: list[Intent] = [Resume(session=fields.get("resume", "x"))]
        if result.ok:
            session = result.result["session"]
            await harness.until(lambda: any("argv" in each for each in dumped(folder)))
            intents += [
                SetModel(session=session, model=fields.get("model", "x")),
                SetEffort(session=session, effort=fields.get("effort", "x")),
            ]
        for intent in intents:
            assert (await harness.act(intent)).code != "internal"
        starts = [each for each in dumped(folder) if "argv" in each]
        for start in starts:
            check_start(start, harness.project, fields)


def check_start(start: dict[str, Any], project: Path, fields: dict[str, str]) -> None:
    """Each word is a known flag with its value in the same word, and nothing else."""
    for word in start["argv"]:
        flag = word.split("=", 1)[0]
        assert flag in KNOWN_FLAGS or word in ("stream-json", "stdio"), word
    models = [each.split("=", 1)[1] for each in start["argv"] if each.startswith("--model=")]
    assert models in ([], [fields.get("model")])
    assert fields["prompt"] == "" or fields["prompt"] not in start["argv"]
    assert Path(start["cwd"]).is_relative_to(project)


# T-10


def climbing(root: Path) -> list[str]:
    """Two hundred ways to write a path that is not below a root."""
    steps = [
        "..", "%2e%2e", "%2E%2E", "..%2f", "%2e%2e%2f", "..%5c", "..\\", "....//", "..;", "..%00",
        "%252e%252e", "..%c0%af", "%c0%ae%c0%ae", "..%ef%bc%8f", "．．", "..%u2215", ".%2e",
        "..%20", "..%09", "..%0d%0a",
    ]  # fmt: skip
    ends = ["secret", "root-evil/secret", "etc/passwd", "secret%00.txt", "./secret"]
    made = [f"{root}/{step}/{end}" for step in steps for end in ends]
    made += [f"{root}/deep/{step}/{step}/{end}" for step in steps for end in ends]
    made += [
        f"{root}-evil/secret", f"{root}/link", f"{root}/up/secret", "/etc/passwd", "//etc/passwd",
        "/proc/self/environ", "/proc/self/root/etc/passwd", "/dev/stdin", "file:///etc/passwd",
        f"{root}", f"{root}/", f"{root}/.", "secret", "../secret", "~/secret", "~root/secret",
        f"{root}/deep/good.txt/../../../secret", f"{root}//..//secret", f"{root}/./../secret",
    ]  # fmt: skip
    return made


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "root-evil").mkdir()
    (root / "deep" / "good.txt").write_text("good")
    (tmp_path / "root-evil" / "secret").write_text(CANARY)
    (tmp_path / "secret").write_text(CANARY)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "up").symlink_to(tmp_path)
    return root


def test_R9_no_way_to_write_a_path_leads_out_of_its_root(tree: Path) -> None:
    ways = climbing(tree)
    assert len(ways) >= 200
    for way in ways:
        for path in {way, urllib.parse.unquote(way), urllib.parse.unquote(way, "latin-1")}:
            with pytest.raises(OutsideRoots):
                read_below(path, [str(tree)], 1_000)
    assert read_below(f"{tree}/deep/good.txt", [str(tree)], 1_000) == b"good"
    assert read_below(f"{tree}/deep/../deep/good.txt", [str(tree)], 1_000) == b"good"


async def test_R9_no_address_leads_out_of_the_sessions_folders(served: Served) -> None:
    project = served.project
    (project / "deep").mkdir()
    (project / "deep" / "good.txt").write_text("good")
    (project.parent / "secret").write_text(CANARY)
    (project.parent / "project-evil").mkdir()
    (project.parent / "project-evil" / "secret").write_text(CANARY)
    (project / "link").symlink_to(project.parent / "secret")
    (project / "up").symlink_to(project.parent)
    client = await served.client()
    await client.new_session()
    bearer = {"authorization": f"Bearer {client.token}"}
    assert (await served.http(f"/api/files?path={project}/deep/good.txt", **bearer))[1] == b"good"
    rng = random.Random(10)
    for way in rng.sample(climbing(project), 60):
        asked = urllib.parse.quote(way, safe="/%")
        status, body, _ = await served.http(f"/api/files?path={asked}", **bearer)
        assert (status, CANARY.encode() in body) == (404, False), way
        for route in ("/api/sessions/{}/export", "/assets/{}", "/{}"):
            quoted = urllib.parse.quote(way, safe="%")
            _, body, _ = await served.http(route.format(quoted), **bearer)
            assert CANARY.encode() not in body


async def test_R9_a_session_of_the_cli_opens_no_folder_that_sessions_may_not_work_in(
    served: Served,
) -> None:
    rows = served.service.registry.lobby
    row = SessionRow(id="cli", cwd="/", source="cli")
    rows.put("sessions", listed(row, None, live=False))
    library = ServerLibrary(served.service.registry, served.service.store, lambda: 0)
    assert "/" not in library.roots()
    rows.remove("sessions", "cli")


# T-11


def test_R9_a_folder_swapped_under_our_hands_ten_thousand_times_gives_nothing_away(
    tree: Path,
) -> None:
    inside, outside = tree / "inside", tree.parent / "outside"
    for folder, text in ((inside, "good"), (outside, CANARY)):
        folder.mkdir()
        (folder / "file").write_text(text)
    swapped = tree / "swapped"
    swapped.symlink_to(inside)
    command = [sys.executable, "-c", FLIP, str(tree), str(inside), str(outside)]
    seen: set[bytes] = set()
    with subprocess.Popen(command) as flipping:
        deadline = time.monotonic() + 60
        while flipping.poll() is None and time.monotonic() < deadline:
            try:
                seen.add(read_below(f"{swapped}/file", [str(tree)], 100))
            except OutsideRoots:
                seen.add(b"refused")
        flipping.kill()
    assert flipping.returncode == 0
    assert CANARY.encode() not in seen
    assert b"refused" in seen


FLIP = """
import os, sys
tree, inside, outside = sys.argv[1:]
for n in range(10_000):
    os.symlink(outside if n % 2 else inside, tree + "/spare")
    os.replace(tree + "/spare", tree + "/swapped")
"""


FLIP_ROOT = """
import os, sys
tree, outside = sys.argv[1:]
for n in range(5_000):
    os.rename(tree, tree + "-away")
    os.symlink(outside, tree)
    os.unlink(tree)
    os.rename(tree + "-away", tree)
"""


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("pinned", [False, True])
def test_R9_a_root_swapped_for_a_link_while_it_is_read_gives_nothing_away(
    tree: Path, pinned: bool
) -> None:
    """The session's folder itself becomes a link to another place and back, all the time."""
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text(CANARY)
    (outside / f"{CANARY}.txt").write_text("")
    (tree / "file").write_text("good")
    opening = Folders()
    if pinned:
        opening.pin(str(tree))
    finder = Finder(fresh_s=0.0, opening=opening)
    reads = 0
    with subprocess.Popen([sys.executable, "-c", FLIP_ROOT, str(tree), str(outside)]) as flipping:
        seen: set[bytes] = set()
        names: set[str] = set()
        while flipping.poll() is None or reads < 3_000:
            reads += 1
            try:
                seen.add(opening.read(f"{tree}/file", [str(tree)], 100))
            except OutsideRoots:
                seen.add(b"refused")
            names.update(each.path for each in finder.find(str(tree), "", 100)[0])
            names.update(folders_like(f"{tree}/", [str(tree)], 100, opening))
    assert flipping.returncode == 0
    assert seen == {b"good", b"refused"}
    assert not [name for name in names if CANARY in name]


def test_R9_another_folder_moved_to_the_path_of_a_session_is_not_its_folder(tree: Path) -> None:
    other = tree.parent / "other"
    other.mkdir()
    (other / "file").write_text(CANARY)
    (tree / "file").write_text("good")
    opening = Folders()
    opening.pin(str(tree))
    assert opening.read(f"{tree}/file", [str(tree)], 100) == b"good"
    tree.rename(tree.parent / "moved")
    other.rename(tree)
    with pytest.raises(OutsideRoots):
        opening.read(f"{tree}/file", [str(tree)], 100)
    assert Finder(opening=opening).find(str(tree), "", 10)[0] == []
    opening.pin(str(tree))
    assert opening.read(f"{tree}/file", [str(tree)], 100) == CANARY.encode(), (
        "a session began there"
    )


@pytest.mark.parametrize(
    "path",
    ["/proc/self/mem", "/proc/self/environ", "/proc/self/maps",
     "/proc/self/fd/0", "/proc/self/cmdline", "/sys/kernel/notes", "/dev/zero", "/dev/full",
     "/proc/kcore", "/proc/kmsg", "/proc/1/environ", "/", "//",
     "/proc"],
)  # fmt: skip
def test_R9_nothing_of_the_kernel_is_a_file_though_everything_is_allowed(path: str) -> None:
    with pytest.raises(OutsideRoots):
        Folders().read(path, ["/"], 100)


def test_R9_the_servers_own_folder_is_hidden_by_whatever_path(tree: Path) -> None:
    data = tree / "data"
    data.mkdir()
    (data / "fairlead.db").write_text(CANARY)
    (tree / "shown").write_text("good")
    opening = Folders()
    opening.hide(data)
    (tree / "by-link").symlink_to(data)
    for path in ("data/fairlead.db", "by-link/fairlead.db"):
        for roots in (["/"], [str(tree)], [str(data)]):
            with pytest.raises(OutsideRoots):
                opening.read(str(tree / path), roots, 100)
    assert opening.read(str(tree / "shown"), ["/"], 100) == b"good"
    listed = [each.path for each in Finder(opening=opening).find(str(tree), "", 100)[0]]
    assert "shown" in listed
    assert not [path for path in listed if "fairlead.db" in path]
    assert Finder(opening=opening).find(str(data), "", 100)[0] == []
    assert folders_like(f"{data}/", ["/"], 10, opening) == []


async def test_R9_files_of_the_kernel_and_of_the_server_are_not_found(
    served: Served, tmp_path: Path
) -> None:
    """Over HTTP each is a 404 with a message, and none a 500."""
    client = await served.client()
    await client.new_session()
    bearer = {"Authorization": f"Bearer {await served.token()}"}
    for path in ("/proc/self/mem", "/proc/self/environ", str(tmp_path / "data" / "fairlead.db"),
                 "/dev/zero", "x" * 3_000, "%ff", "a%00b", "a/" * 1_000):  # fmt: skip
        status, body, _ = await served.http(f"/api/files?path={path}", **bearer)
        assert status == 404, path
        assert b"File not found" in body


def test_R9_a_root_that_became_a_link_is_no_root(tree: Path) -> None:
    other = tree.parent / "other"
    other.mkdir()
    (other / "file").write_text(CANARY)
    moved = tree.parent / "moved"
    tree.rename(moved)
    tree.symlink_to(other)
    with pytest.raises(OutsideRoots):
        read_below(f"{tree}/file", [str(tree)], 100)


# T-12


async def test_R9_a_forged_field_stops_the_whole_message(served: Served, tmp_path: Path) -> None:
    client = await served.client()
    session = await client.new_session()
    good: list[dict[str, Any]] = [
        {"type": "open", "document": session},
        {"type": "close", "document": session},
        {"type": "ack", "document": session, "seq": 1},
        {"type": "look", "document": session, "looking": True},
        {"type": "fetch", "document": session, "before": "x"},
        {"type": "intent", "n": 900, "intent": {"kind": "rename", "session": session, "title": "t"}},
        {"type": "intent", "n": 901, "intent": {
            "kind": "send", "session": session, "text": "t", "uuid": str(uuid.uuid4())}},
        {"type": "intent", "n": 902, "intent": {
            "kind": "decide", "session": session, "request_id": "r", "input_sha256": "h",
            "decision": "allow"}},
    ]  # fmt: skip
    extra = [
        "updatedInput", "updated_input", "updatedPermissions", "permission_suggestions", "approved",
        "rememberEntry", "behavior", "destination", "role", "device", "token", "flags", "env",
        "request", "subtype", "raw", "__proto__", "constructor", "control_request", "mcpServers",
    ]  # fmt: skip
    for message in good:
        client = await served.client()  # A socket may say a hundred things a second.
        for name in extra:
            places: list[dict[str, Any]] = [{**message, name: {"x": 1}}]
            if "intent" in message:
                places.append({**message, "intent": {**message["intent"], name: True}})
            for forged in places:
                await client.say(**forged)
                answer = await client.hear("error")
                assert answer["code"] == "bad_message", forged
    received = [json.loads(line) for line in (tmp_path / "agent.log").read_text().splitlines()]
    assert [each for each in received if each.get("type") == "user"] == []
    assert len([each for each in received if each.get("type") == "control_response"]) == 0


@settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
            st.sampled_from(["type", "n", "intent", "kind", "session", "document", "seq", "x"])
            | st.text(max_size=5), inner, max_size=5,
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_R9_whatever_is_sent_is_answered_or_refused_and_never_breaks(value: Any) -> None:
    text = json.dumps(value)
    with contextlib.suppress(msgspec.DecodeError):
        assert isinstance(msgspec.json.decode(text, type=FromClient), msgspec.Struct)


# T-31, F-37


def resident() -> int:
    """Memory of this process, with the server in it, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


BOMBS: dict[str, tuple[list[bytes], set[int]]] = {
    "20 MB in one frame": ([frame(b"x" * 20_000_000)], {1009, 1006}),
    "a length of 2**62": ([b"\x81\xff" + (2**62).to_bytes(8, "big") + b"abcd"], {1009, 1006}),
    "a length with its highest bit": ([b"\x81\xff" + b"\xff" * 8], {1002, 1009, 1006}),
    "20 MB in fragments": (
        [frame(b"x" * 65_000, first=0x01), *[frame(b"x" * 65_000, first=0x00)] * 320],
        {1009, 1006},
    ),
    "compressed without leave": ([frame(b"\xaa" * 100, first=0xC1)], {1002, 1006}),
    "reserved bits": ([frame(b"{}", first=0xF1)], {1002, 1006}),
    "an unknown opcode": ([frame(b"{}", first=0x83)], {1002, 1006}),
    "not masked": ([frame(b"{}", masked=False)], {1002, 1006}),
    "not UTF-8": ([frame(b'{"type":"\xff\xfe"}')], {1007, 1006}),
    "a surrogate in UTF-8": ([frame(b'{"type":"\xed\xa0\x80"}')], {1007, 1006}),
    "a fragmented ping": ([frame(b"x", first=0x09)], {1002, 1006}),
    "a ping of 200 bytes": ([frame(b"x" * 200, first=0x89)], {1002, 1006}),
    "a fragment that continues nothing": ([frame(b"x", first=0x80)], {1002, 1006}),
    "a close with half a code": ([frame(b"\x03", first=0x88)], {1002, 1006}),
}


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("name", BOMBS)
async def test_R14_a_compression_bomb_closes_its_own_socket_and_affects_no_other_client(
    served: Served, name: str, path: str
) -> None:
    pieces, codes = BOMBS[name]
    other = await served.client()
    await other.hear("welcome")
    raw = await enter(served.service.port, await served.token(), path)
    before = resident()
    for piece in pieces:
        await raw.send(piece)
    assert await raw.closing() in codes
    assert resident() - before < 32 * 1024 * 1024
    assert (await other.intend("new_session", cwd=str(served.project)))["ok"]


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_R14_a_million_fragments_of_one_byte_cost_little(served: Served, path: str) -> None:
    other = await served.client()
    await other.hear("welcome")
    raw = await enter(served.service.port, await served.token(), path)
    before = resident()
    await raw.send(frame(b"x", first=0x01))
    crumbs = frame(b"y", first=0x00) * 10_000
    for _ in range(100):
        await raw.send(crumbs)
    assert await raw.closing() in (1009, 1006)
    assert (await other.intend("new_session", cwd=str(served.project)))["ok"]
    assert resident() - before < 32 * 1024 * 1024


async def test_R14_no_compression_is_agreed_on(served: Served) -> None:
    offered = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
    reader, writer = await asyncio.open_connection("127.0.0.1", served.service.port)
    head = upgrade("/ws", f"Host: 127.0.0.1:{served.service.port}", offered)
    writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert b" 101 " in answer
    assert b"permessage-deflate" not in answer
    writer.transport.abort()


async def test_R14_an_upload_larger_than_allowed_is_not_even_read(served: Served) -> None:
    bearer = f"Authorization: Bearer {await served.token('operator')}"
    port = served.service.port
    head = f"POST /api/uploads HTTP/1.1\nHost: 127.0.0.1:{port}\n{bearer}\n"
    before = resident()
    assert status_of(await ask(port, head + "Content-Length: 99999999999")) == 413
    for length in ("-1", "1e3", "0x10", "1_000", "99999999999999999999999999"):
        assert status_of(await ask(port, head + f"Content-Length: {length}")) in (400, 413)
    assert resident() - before < 32 * 1024 * 1024


def test_R14_every_limit_has_a_number_and_a_name_in_one_file() -> None:
    for name, value in ((each, getattr(Limits(), each)) for each in Limits.__dataclass_fields__):
        values = value if isinstance(value, tuple) else (value,)
        assert all(isinstance(value, int | float) and value >= 0 for value in values), name
