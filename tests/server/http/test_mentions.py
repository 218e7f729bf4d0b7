"""What the `@`s of a prompt would attach, before it is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.http.mentions import MOST, look_up
from tests.server.conftest import Served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("12345")
    (folder / "with space.txt").write_text("x")
    (tmp_path / "secret").write_text("secret!")
    (folder / "link").symlink_to(tmp_path / "secret")
    return folder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at @src/a.py", [("@src/a.py", "file", True, 5)]),
        ("see @src/a.py, please.", [("@src/a.py,", "file", True, 5)]),
        ("(@src/a.py)", [("@src/a.py)", "file", True, 5)]),
        ("lines @src/a.py#L1-2", [("@src/a.py#L1-2", "file", True, 5)]),
        ("@src", [("@src", "folder", True, None)]),
        ('read @"with space.txt" now', [('@"with space.txt"', "file", True, 1)]),
        ("@../secret", [("@../secret", "file", False, 7)]),
        ("@link", [("@link", "file", False, 7)]),
        ("@~/secret", [("@~/secret", "file", False, 7)]),
        ("@/etc/passwd", [("@/etc/passwd", "file", False, Path("/etc/passwd").stat().st_size)]),
        ("first\n@/etc\n@nothing", [("@/etc", "folder", False, None), ("@nothing", "missing", True, None)]),
        ("@box:tickets://1", [("@box:tickets://1", "resource", True, None)]),
        ("me@example.org and a @ alone", []),
        ("twice @src @src", [("@src", "folder", True, None)]),
        ("@bad\0name", [("@bad\0name", "missing", True, None)]),
    ],
)  # fmt: skip
def test_B52_each_mention_says_what_it_leads_to(
    project: Path, text: str, found: list[tuple[str, str, bool, int | None]]
) -> None:
    mentions = look_up(text, str(project), str(project.parent), servers=("box",))
    assert [(each.text, each.kind, each.inside, each.size) for each in mentions] == found


def test_B52_an_added_folder_is_inside(project: Path) -> None:
    (found,) = look_up("@/etc/passwd", str(project), "/", added=("/etc",))
    assert found.inside


def test_B52_a_text_full_of_mentions_costs_no_more_than_a_page_of_them(project: Path) -> None:
    text = " ".join(f"@x{n}" for n in range(100_000))
    assert len(look_up(text, str(project), "/")) == MOST


async def test_B52_the_composer_asks_before_it_sends(served: Served) -> None:
    (served.project / "a.txt").write_text("abc")
    client = await served.client()
    session = await client.new_session("hi")

    async def ask(role: str = "operator", **body: Any) -> tuple[int, Any]:
        token = await served.token(role)
        status, answer, _ = await served.http(
            "/api/mentions", method="POST", body=body, Authorization=f"Bearer {token}"
        )
        return status, json.loads(answer)

    status, attached = await ask(text="@a.txt @/etc/passwd", session=session)
    assert status == 200
    assert [(each["kind"], each["inside"]) for each in attached["mentions"]] == [
        ("file", True),
        ("file", False),
    ]
    assert attached["mentions"][0]["path"] == str(served.project / "a.txt")
    status, attached = await ask(text="@a.txt", cwd=str(served.project))
    assert attached["mentions"][0]["size"] == 3
    assert (await ask(text="@a.txt", cwd="/etc"))[0] == 403
    assert (await ask(text="@a.txt", session="none"))[0] == 404
    assert (await ask("approver", text="@a.txt", session=session))[0] == 403
