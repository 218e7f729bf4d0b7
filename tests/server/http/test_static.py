"""How the app's own files are served."""

from __future__ import annotations

import base64
import gzip
import hashlib
from pathlib import Path

import pytest
from starlette.requests import Request

from fairlead.server.http.static import LARGE, LARGE_FONT, WEB_FOLDER, StaticFiles


def asked(name: str, **headers: str) -> Request:
    given = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return Request(
        {"type": "http", "method": "GET", "headers": given, "path_params": {"name": name}}
    )


@pytest.fixture
def files(tmp_path: Path) -> StaticFiles:
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "sw.js", "manifest.webmanifest", "icon-192.png", "assets/a-1.js"):
        (tmp_path / name).write_bytes(b"x")
    return StaticFiles(tmp_path)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("assets/large-1.js", LARGE + 1),
        ("assets/small-1.js", LARGE),
        ("assets/tiny-1.js", 10),
        ("assets/large-1.woff2", LARGE_FONT + 1),
        ("assets/small-1.woff2", LARGE_FONT),
    ],
)
async def test_a_file_is_served_as_it_was_when_the_server_started(
    tmp_path: Path, name: str, size: int
) -> None:
    (tmp_path / "assets").mkdir()
    path = tmp_path / name
    path.write_bytes(b"a" * size)
    files = StaticFiles(tmp_path)
    path.unlink()  # As an update of the package does.
    path.write_bytes(b"b")
    for _ in range(2):
        plain = await files.file(asked(name))
        assert plain.body == b"a" * size
        again = await files.file(asked(name, accept_encoding="gzip"))
        compressed = again.headers.get("content-encoding") == "gzip"
        assert compressed is (path.suffix == ".js" and size > 10)
        assert (gzip.decompress(again.body) if compressed else again.body) == b"a" * size


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


async def test_B31_the_page_is_requested_again_for_every_address_of_the_app(
    files: StaticFiles,
) -> None:
    for name in ("s/0a1b", "inbox"):
        answer = await files.file(asked(name))
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers.get("cache-control", "no-cache") == "no-cache"


@pytest.mark.parametrize("accepts", ["", "br", "gzip, deflate, br"])
async def test_B135_texts_are_compressed_for_browsers_that_accept_it(
    tmp_path: Path, accepts: str
) -> None:
    text = b"a line of script\n" * 200
    for name in ("app.js", "app.css", "exported.html", "font.woff2", "picture.png"):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "small.js").write_bytes(b"x")
    files = StaticFiles(tmp_path)
    for name in ("app.js", "app.css", "exported.html"):
        for _ in range(2):
            answer = await files.file(asked(name, accept_encoding=accepts))
            compressed = answer.headers.get("content-encoding") == "gzip"
            assert compressed is ("gzip" in accepts)
            body = bytes(answer.body)
            assert (gzip.decompress(body) if compressed else body) == text
            assert answer.headers["content-length"] == str(len(body))
            assert answer.headers["vary"] == "accept-encoding"
    for name in ("font.woff2", "picture.png", "small.js"):
        answer = await files.file(asked(name, accept_encoding=accepts))
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("name", ["sw.js.map", "../secret.txt", "assets/none.js"])
async def test_a_file_that_is_not_there_is_never_the_page(files: StaticFiles, name: str) -> None:
    assert (await files.file(asked(name))).status_code == 404


async def test_B117_the_page_for_diagrams_is_a_sandbox_that_only_the_app_can_show(
    tmp_path: Path,
) -> None:
    (tmp_path / "diagram.html").write_bytes(b"x")
    answer = await StaticFiles(tmp_path).file(asked("diagram.html"))
    parts = answer.headers["content-security-policy"].split("; ")
    assert "sandbox allow-scripts" in parts
    assert "default-src 'none'" in parts
    assert "frame-ancestors 'self'" in parts
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert not any(word in part for part in parts for word in ("http", "*", "allow-same-origin"))
    # Nothing but its scripts and styles, which are in the page, and the page names the script's hash.
    assert [part for part in parts if part.endswith("-src") or "-src " in part] == [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
    ]


def test_B117_the_built_page_for_diagrams_runs_only_its_own_script() -> None:
    page = (WEB_FOLDER / "diagram.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    script = page[page.index('<script type="module">') + 22 : page.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in page
