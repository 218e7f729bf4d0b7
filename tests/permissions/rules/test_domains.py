"""Rules for web pages."""

from __future__ import annotations

import pytest

from fairlead.permissions import Behavior, RuleBook
from fairlead.permissions.rules.domains import host_of
from tests.permissions.checking import behavior_of, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
EXAMPLE = RuleBook.of(allow=["WebFetch(domain:example.com)"])


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a",
        "https://example.com",
        "http://example.com:8443/",
        "https://EXAMPLE.com/",
    ],
)
def test_P22_a_domain_rule_covers_its_host(url: str) -> None:
    assert behavior_of(tool("WebFetch", url=url), EXAMPLE) is ALLOW


@pytest.mark.parametrize(
    "url",
    [
        "https://www.example.com/",
        "https://evilexample.com/",
        "https://example.com.evil.test/",
        "https://example.com@evil.test/",
        "https://evil.test\\@example.com/",
        "https://example.com\\.evil.test/",
        "https://evil.test/?x=example.com",
        "https://evil.test/#example.com",
        "https://evil.test/example.com",
        "https://ex\u0430mple.com/",
        "https://example.com\u3002evil.test/",
        "https://example.com\n.evil.test/",
        "https://example.com%2eevil.test/",
        "https://example.com,evil.test/",
        "https:example.com",
        "//example.com",
        "ftp://example.com/",
        "file://example.com/etc/passwd",
        "example.com",
        "not a url",
        "https://[::1]/",
        "https://example.com:x/",
        "",
    ],
)
def test_P22_a_domain_rule_covers_nothing_else(url: str) -> None:
    assert behavior_of(tool("WebFetch", url=url), EXAMPLE) is ASK


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "https://example.com./",
        "https://user@example.com/",
        "ftp://example.com/",
        "https:example.com",
        "https:/example.com",
        "https://EXAMPLE.com\\x",
    ],
)
def test_P22_a_denied_domain_cannot_be_spelled_away(url: str) -> None:
    book = RuleBook.of(allow=["WebFetch"], deny=["WebFetch(domain:example.com)"])
    assert behavior_of(tool("WebFetch", url=url), book) is DENY


def test_P22_a_star_covers_subdomains_and_not_the_domain_itself() -> None:
    book = RuleBook.of(allow=["WebFetch(domain:*.wild.test)"])
    assert behavior_of(tool("WebFetch", url="https://a.wild.test/"), book) is ALLOW
    assert behavior_of(tool("WebFetch", url="https://b.a.wild.test/"), book) is ALLOW
    assert behavior_of(tool("WebFetch", url="https://wild.test/"), book) is ASK
    assert behavior_of(tool("WebFetch", url="https://evilwild.test/"), book) is ASK


def test_P22_documentation_that_the_cli_always_fetches_needs_no_rule() -> None:
    assert behavior_of(tool("WebFetch", url="https://docs.python.org/3/")) is ALLOW
    assert behavior_of(tool("WebFetch", url="https://docs.python.org.evil.test/")) is ASK
    assert behavior_of(tool("WebFetch", url="https://docs.python.org@evil.test/")) is ASK


def test_P22_a_rule_without_domain_covers_nothing() -> None:
    book = RuleBook.of(allow=["WebFetch(example.com)", "WebFetch(https://example.com/*)"])
    assert behavior_of(tool("WebFetch", url="https://example.com/"), book) is ASK


def test_P22_a_host_is_only_given_where_it_is_certain() -> None:
    assert host_of("https://Example.com:80/x") == "example.com"
    assert host_of("https://a b/") is None
