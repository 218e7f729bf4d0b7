"""The content of a session's files over HTTP (docs/git.md)."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import urlencode

from fairlead.server.working_files import id_of
from tests.git.repositories import git, new_repository
from tests.server.conftest import Served

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


async def fetch(
    served: Served, session: str, what: str, role: str = "operator", **query: str
) -> tuple[int, bytes, dict[str, str]]:
    path = f"/api/sessions/{session}/{what}?{urlencode(query)}"
    return await served.http(path, Authorization=f"Bearer {await served.token(role)}")


async def content(served: Served, session: str, name: str, **query: str) -> tuple[int, Any]:
    status, body, _ = await fetch(served, session, "content", file=id_of(name), **query)
    return status, json.loads(body)


async def test_G16_lines_of_a_file_are_sent_in_parts(served: Served) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 101))
    new_repository(served.project, {"src/a b\n.py": text})
    session = await (await served.client()).new_session("hi")
    status, answer = await content(served, session, "src/a b\n.py", **{"from": "50"}, lines="3")
    assert status == 200, answer
    assert answer["lines"] == ["line 50", "line 51", "line 52"]
    assert (answer["first"], answer["total"], answer["cut"]) == (50, 100, False)
    (served.project / "bin").write_bytes(b"a\0b")
    assert (await content(served, session, "bin", tree="folder"))[1]["binary"]
    (served.project / "latin").write_bytes(b"caf\xe9\r\nx")
    assert (await content(served, session, "latin"))[1]["lines"] == ["caf\ufffd\r", "x"]


async def test_G16_a_very_large_file_is_read_in_part_and_a_pipe_not_at_all(served: Served) -> None:
    new_repository(served.project)
    with (served.project / "huge").open("wb") as file:
        file.write(b"first\n")
        file.truncate(500 * 1024 * 1024)
    with (served.project / "long").open("wb") as file:
        file.write(b"x" * 99 + b"\n")
        for _ in range(100):
            file.write((b"y" * 99 + b"\n") * 1000)
    os.mkfifo(served.project / "pipe")
    session = await (await served.client()).new_session("hi")
    assert (await content(served, session, "huge"))[1]["binary"]
    answer = (await content(served, session, "long", lines="10"))[1]
    assert (answer["cut"], len(answer["lines"])) == (True, 10)
    assert (await content(served, session, "pipe"))[0] == 404


async def test_G16_nothing_outside_is_read_and_no_link_is_followed(served: Served) -> None:
    new_repository(served.project)
    secret = served.project.parent / "secret"
    secret.write_text("secret\n")
    (served.project / "link").symlink_to(secret)
    (served.project / "up").symlink_to(served.project.parent)
    session = await (await served.client()).new_session("hi")
    names = ("link", "up/secret", "../secret", str(secret), "", ".", "a/../../secret", "x\0y")
    for name in names:
        for tree in ("repository", "folder"):
            status, body, _ = await fetch(
                served, session, "content", file=id_of(name) if name else "", tree=tree
            )
            assert status == 404, (name, tree)
            assert b"secret\n" not in body
    assert (await content(served, session, "README.md", tree="home"))[0] == 400
    assert (await fetch(served, session, "content", file="!!"))[0] == 404
    assert (await fetch(served, "nobody", "content", file="YQ"))[0] == 404
    for role in ("viewer", "approver"):
        for what in ("content", "image"):
            assert (await fetch(served, session, what, role, file="YQ"))[0] == 403


async def test_G17_images_are_sent_by_their_bytes_now_and_in_a_commit(served: Served) -> None:
    folder = new_repository(served.project)
    (folder / "a.png").write_bytes(PNG)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "An image.")
    base = git(folder, "rev-parse", "HEAD").strip()
    (folder / "a.png").write_bytes(b"GIF89a" + b"\0" * 40)
    (folder / "evil.png").write_text("<script>alert(1)</script>")
    (folder / "evil.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    session = await (await served.client()).new_session("hi")
    status, body, headers = await fetch(served, session, "image", file=id_of("a.png"))
    assert (status, headers["content-type"], body[:6]) == (200, "image/gif", b"GIF89a")
    assert headers["x-content-type-options"] == "nosniff"
    status, body, headers = await fetch(served, session, "image", file=id_of("a.png"), base=base)
    assert (status, headers["content-type"], body) == (200, "image/png", PNG)
    for name in ("evil.png", "evil.svg", "nothing.png"):
        assert (await fetch(served, session, "image", file=id_of(name)))[0] == 404
    for wrong in ("HEAD", "--help", "0" * 40):
        status, _, _ = await fetch(served, session, "image", file=id_of("a.png"), base=wrong)
        assert status in (400, 404), wrong
