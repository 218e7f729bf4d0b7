"""Who is let in by headers alone."""

from __future__ import annotations

import pytest

from fairlead.errors import OptionError
from fairlead.server.access.codes import Codes, hash_token
from fairlead.server.access.requests.request_checks import (
    allowed_authorities,
    check_host,
    check_origin,
)
from fairlead.server.access.throttle import Throttle
from fairlead.server.limits import Limits
from fairlead.server.service import Address

OURS = allowed_authorities("127.0.0.1", 8787)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8787", "localhost:8787", "LOCALHOST:8787", "[::1]:8787"]
)
def test_our_own_names_are_good(host: str) -> None:
    assert check_host([host], OURS) is None


@pytest.mark.parametrize(
    "hosts",
    [
        [], [""], ["127.0.0.1"], ["127.0.0.1:8788"], ["0.0.0.0:8787"], ["[::]:8787"],
        ["evil.test:8787"], ["127.evil.com:8787"], ["localhost.evil.com:8787"],
        ["127.0.0.1.nip.io:8787"], ["2130706433:8787"], ["0177.0.0.1:8787"], ["127.1:8787"],
        ["127.0.0.1:8787.evil.com"], ["user@127.0.0.1:8787"], ["127.0.0.1:8787, evil.test"],
        ["127.0.0.1:8787", "127.0.0.1:8787"], ["localhost.:8787"], [" 127.0.0.1:8787"],
        ["127.0.0.1:08787"],
    ],
    ids=str,
)  # fmt: skip
def test_B10_any_other_host_is_refused(hosts: list[str]) -> None:
    refusal = check_host(hosts, OURS)
    assert refusal is not None
    assert refusal[0] == 421


def test_B10_binding_to_every_address_does_not_make_it_a_name() -> None:
    assert check_host(["0.0.0.0:8787"], allowed_authorities("0.0.0.0", 8787)) is not None
    assert check_host(["box:8787"], allowed_authorities("0.0.0.0", 8787, ["box"])) is None


def origin(
    value: str | None, *, upgrade: bool = True, method: str = "GET", bearer: bool = False
) -> bool:
    """Whether a request with this Origin to 127.0.0.1:8787 is let in."""
    values = [] if value is None else [value]
    refusal = check_origin(
        values,
        host="127.0.0.1:8787",
        secure=False,
        method=method,
        upgrade=upgrade,
        has_bearer=bearer,
    )
    return refusal is None


@pytest.mark.parametrize(
    "value",
    [
        "null", "", "http://127.0.0.1:8788", "https://127.0.0.1:8787", "http://localhost:8787",
        "http://127.0.0.1:8787@evil.test", "http://127.0.0.1:8787.evil.test",
        "http://127.0.0.1:8787/", "HTTP://127.0.0.1:8787", "http://127.0.0.1.:8787",
        "http://evil.test", "http://evil127.0.0.1:8787", "http://127.0.0.1:8787 http://evil.test",
        "http://xn--e1afmkfd.test", "file://",
    ],
)  # fmt: skip
def test_B11_any_other_origin_is_refused(value: str) -> None:
    assert not origin(value)
    assert not origin(value, upgrade=False, method="POST", bearer=True)


def test_B11_our_own_page_and_programs_are_let_in() -> None:
    assert origin("http://127.0.0.1:8787")
    assert origin(None)  # a program's socket: it has no Origin, and must send a token first
    assert origin(None, upgrade=False, method="POST", bearer=True)
    assert origin(None, upgrade=False, method="GET")
    assert not origin(None, upgrade=False, method="POST")


def test_B13_a_code_works_once_and_for_a_minute() -> None:
    codes = Codes(Limits())
    codes.issue("abc", "operator", now=100.0)
    codes.issue("old", "owner", now=100.0)
    assert codes.redeem("nope", now=101.0) is None
    assert codes.redeem("abc", now=101.0) == "operator"
    assert codes.redeem("abc", now=101.0) is None
    assert codes.redeem("old", now=161.0) is None


def test_B13_a_token_is_not_stored() -> None:
    assert "secret" not in hash_token("secret")
    assert hash_token("secret") != hash_token("secres")


def test_B18_only_the_one_who_guesses_is_slowed_down() -> None:
    throttle = Throttle(Limits(tries_per_minute=3))
    for _ in range(3):
        throttle.failed("10.0.0.9", now=5.0)
    assert throttle.too_many("10.0.0.9", now=6.0)
    assert not throttle.too_many("10.0.0.8", now=6.0)
    assert not throttle.too_many("10.0.0.9", now=70.0)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "box.local"])
def test_B15_another_address_needs_tls_or_an_explicit_word(host: str) -> None:
    with pytest.raises(OptionError, match="can be reached from other machines"):
        Address(host=host)
    assert Address(host=host, plain_http=True).host == host
