"""How the app's own files are served."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.requests import Request

from fairlead.server.http.static import StaticFiles


def asked(name: str) -> Request:
    return Request({"type": "http", "method": "GET", "headers": [], "path_params": {"name": name}})


@pytest.fixture
def files(tmp_path: Path) -> StaticFiles:
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "sw.js", "manifest.webmanifest", "icon-192.png", "assets/a-1.js"):
        (tmp_path / name).write_bytes(b"x")
    return StaticFiles(tmp_path)


@pytest.mark.parametrize(
    ("name", "kind", "keep"),
    [
        ("sw.js", "text/javascript", "max-age=86400"),
        ("manifest.webmanifest", "application/manifest+json", "no-cache"),
        ("icon-192.png", "image/png", "no-cache"),
        ("assets/a-1.js", "text/javascript", "public, max-age=31536000, immutable"),
    ],
)
async def test_B31_only_hashed_files_are_kept(
    files: StaticFiles, name: str, kind: str, keep: str
) -> None:
    answer = await files.file(asked(name))
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0] == kind
    assert answer.headers["cache-control"] == keep


async def test_B31_the_page_is_asked_for_anew_for_every_address_of_the_app(
    files: StaticFiles,
) -> None:
    for name in ("s/0a1b", "inbox"):
        answer = await files.file(asked(name))
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers.get("cache-control", "no-cache") == "no-cache"


@pytest.mark.parametrize("name", ["sw.js.map", "../secret.txt", "assets/none.js"])
async def test_a_file_that_is_not_there_is_never_the_page(files: StaticFiles, name: str) -> None:
    assert (await files.file(asked(name))).status_code == 404
