"""The parts of a public URL, and what is below its path."""

from __future__ import annotations

import pytest

from fairlead.errors import OptionError
from fairlead.server.access.requests.public_url import PublicUrl, base_path_of, below_path

NAME = "https://agents.example.org"


@pytest.mark.parametrize(
    ("url", "authority", "base"),
    [
        (NAME, "agents.example.org", NAME),
        (f"{NAME}/", "agents.example.org", NAME),
        (f"{NAME}/fairlead", "agents.example.org", f"{NAME}/fairlead"),
        (f"{NAME}/fairlead/", "agents.example.org", f"{NAME}/fairlead"),
        (f"{NAME}:443/a/b.c", "agents.example.org", f"{NAME}/a/b.c"),
        (f"{NAME}:8443/~me", "agents.example.org:8443", f"{NAME}:8443/~me"),
        ("http://[::1]:9000/x", "[::1]:9000", "http://[::1]:9000/x"),
    ],
)
def test_R19_a_public_url_has_a_name_and_may_have_a_path(
    url: str, authority: str, base: str
) -> None:
    public = PublicUrl.parse(url)
    assert (public.authority, public.base) == (authority, base)
    assert public.origin == base.removesuffix(public.path)


@pytest.mark.parametrize(
    "path",
    ["//x", "/a//b", "/..", "/a/../b", "/.", "/.hidden", "/a b", "/%66airlead", "/a\\b", "/ä"],
)
def test_R19_a_path_that_programs_spell_differently_is_refused(path: str) -> None:
    with pytest.raises(OptionError, match=r"cannot be used\. Use letters, digits"):
        PublicUrl.parse(NAME + path)


@pytest.mark.parametrize("url", ["agents.example.org", "ftp://a", f"{NAME}/x?y", f"{NAME}/#z", ""])
def test_R19_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(OptionError, match="is not the address of a server"):
        PublicUrl.parse(url)


@pytest.mark.parametrize(
    ("path", "raw", "route"),
    [
        ("/fairlead/", b"/fairlead/", "/"),
        ("/fairlead/api/x", b"/fairlead/api/x", "/api/x"),
        ("/fairlead/fairlead/x", b"/fairlead/fairlead/x", "/fairlead/x"),
        ("/fairlead/a b", b"/fairlead/a%20b", "/a b"),
        ("/fairlead", b"/fairlead", None),
        ("/fairlead/x", b"/%66airlead/x", None),
        ("/fairlead/x", b"/fairlead%2Fx", None),
        ("/fairleadx/y", b"/fairleadx/y", None),
        ("/x", b"/x", None),
    ],
)
def test_R19_a_route_is_below_the_path_only_in_the_same_spelling(
    path: str, raw: bytes, route: str | None
) -> None:
    scope = below_path({"type": "http", "path": path, "raw_path": raw}, "/fairlead")
    assert (scope and scope["path"]) == route
    if scope is not None:
        assert base_path_of(scope) == "/fairlead"
        assert scope["raw_path"] == raw.removeprefix(b"/fairlead")


def test_R19_without_a_path_nothing_changes() -> None:
    scope = {"type": "http", "path": "/fairlead/x"}
    assert below_path(scope, "") is scope
    assert base_path_of(scope) == ""
