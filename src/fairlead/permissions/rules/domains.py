"""Whether a `WebFetch(domain:…)` rule covers a URL: whole host names, never prefixes or suffixes.

A URL that two programs could read in two ways has no host here, and so no allow rule covers it.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from fairlead.permissions.rules.wildcards import star_match

__all__ = ["domain_matches", "host_of", "is_documentation"]

_DOCUMENTATION_WORDS = """agentskills.io angular.io asp.net blazor.net bun.sh cloud.google.com code.claude.com d3js.org
    dev.mysql.com devcenter.heroku.com developer.android.com developer.apple.com
    developer.mozilla.org doc.rust-lang.org docs.aws.amazon.com docs.djangoproject.com
    docs.flutter.dev docs.netlify.com docs.oracle.com docs.python.org docs.spring.io docs.swift.org
    docs.unity.com docs.unrealengine.com dotnet.microsoft.com en.cppreference.com expressjs.com
    fastapi.tiangolo.com flask.palletsprojects.com getbootstrap.com git-scm.com gradle.org
    graphql.org hibernate.org httpd.apache.org jestjs.io jquery.com jupyter.org keras.io
    kotlinlang.org kubernetes.io laravel.com learn.microsoft.com matplotlib.org maven.apache.org
    modelcontextprotocol.io nextjs.org nginx.org nodejs.org numpy.org pandas.pydata.org
    platform.claude.com prisma.io pytorch.org react.dev reactnative.dev reactrouter.com redis.io
    redux.js.org requests.readthedocs.io ruby-doc.org scikit-learn.org selenium.dev
    spark.apache.org symfony.com tailwindcss.com threejs.org tomcat.apache.org vuejs.org
    webpack.js.org www.ansible.com www.mongodb.com www.php.net www.postgresql.org www.sqlite.org
    www.tensorflow.org www.terraform.io www.typescriptlang.org"""
_DOCUMENTATION = frozenset(_DOCUMENTATION_WORDS.split())
"""Documentation that both measured CLIs fetch without asking."""

_LONGEST = 8_000
"""Characters of a URL; no service takes a longer one."""

_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")


def host_of(url: str) -> str | None:
    """The host name in lower case; None if the URL is not plain."""
    if (
        len(url) > _LONGEST
        or not url.isascii()
        or not url.isprintable()
        or any(char in url for char in "\\ \t")
    ):
        # Browsers read a backslash as a slash, Python does not: `https://evil\@example.com`.
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    if not host or parts.scheme not in ("http", "https") or not _HOST.fullmatch(host.rstrip(".")):
        return None
    return host


def domain_matches(content: str, url: str, *, generous: bool) -> bool:
    """Whether `domain:example.com` or `domain:*.example.com` covers the URL.

    Generous is for deny and ask rules: a trailing dot and an odd scheme do not help to get past
    them, and a star may stand anywhere (CLI-1724). An allow rule wants the host exactly.
    """
    if not content.startswith("domain:"):
        return False
    wanted = content.removeprefix("domain:").lower()
    host = host_of(url)
    if host is None and generous:
        match = re.match(r"\w+:[/\\]*(?:[^/?#\\@]*@)?([^/?#:\\]+)", url[:_LONGEST].strip())
        host = match.group(1).lower() if match else None
    if host is None:
        return False
    if generous:
        host, wanted = host.rstrip("."), wanted.rstrip(".")
    if generous and "*" in wanted.removeprefix("*."):
        return star_match(wanted.split("*"), host)
    if wanted.startswith("*."):
        return host.endswith(wanted[1:]) and len(host) > len(wanted) - 1
    return host == wanted


def is_documentation(url: str) -> bool:
    """Whether the CLI fetches this page without asking."""
    host = host_of(url)
    return host in _DOCUMENTATION and "@" not in url
