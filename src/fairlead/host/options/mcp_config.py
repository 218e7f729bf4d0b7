"""Configurations of MCP servers outside this process, as the CLI accepts them by flag.

Checked strictly, because a CLI before 2.1.120 ends with exit code 0 and without a message if it
cannot use a configuration (CLI-112). Servers inside this process are objects and are not checked
here; see `sdk_servers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.options import checks as check

__all__ = ["check_servers", "external_servers", "write_config"]

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Characters that are unchanged in the full name of a tool, `mcp__NAME__tool`."""

ADDRESSED = ("http", "sse")
"""Types of servers that the CLI connects to by address instead of starting them."""


def check_servers(option: str, value: Any) -> dict[str, Any]:
    """Servers by name: mappings are configurations, anything else is a server of this process."""
    if not isinstance(value, Mapping):
        raise OptionError(
            option, f"takes a mapping of names to servers, not a {type(value).__name__}."
        )
    return {
        _name(option, name): _server(f"{option}[{name!r}]", server)
        for name, server in value.items()
    }


def external_servers(servers: Mapping[str, Any]) -> dict[str, Any]:
    """The servers that the CLI starts or connects to by itself."""
    return {name: server for name, server in servers.items() if isinstance(server, Mapping)}


def write_config(servers: Mapping[str, Any]) -> str:
    """The value of `--mcp-config`."""
    return json.dumps({"mcpServers": servers}, ensure_ascii=False, separators=(",", ":"))


def _name(option: str, name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise OptionError(
            option,
            f"{name!r} cannot be the name of a server.",
            "Use 1 to 64 letters, digits, '_' and '-': the model sees mcp__NAME__tool.",
        )
    return name


def _server(option: str, server: Any) -> Any:
    if server is None or isinstance(server, str | bytes | int | float | list | tuple):
        raise OptionError(
            option,
            f"takes a dict or a server object, not a {type(server).__name__}.",
            "Name a configuration file in McpOptions(config_files=[…]).",
        )
    return _configuration(option, server) if isinstance(server, Mapping) else server


def _configuration(option: str, server: Mapping[str, Any]) -> dict[str, Any]:
    config = check.json_object(option, server)
    kind = config.get("type", "stdio")
    if kind == "sdk":
        raise OptionError(
            option, "is of type 'sdk', which runs in this process.",
            "Give the server object itself, or use `tools`.",
        )  # fmt: skip
    if kind == "stdio":
        _require(option, config, "command")
        _texts(option, config, "args")
        _text_map(option, config, "env")
    elif kind in ADDRESSED:
        _require(option, config, "url")
        _text_map(option, config, "headers")
    else:
        raise OptionError(option, f"type {kind!r} is not one of stdio, {', '.join(ADDRESSED)}.")
    return config


def _require(option: str, config: dict[str, Any], key: str) -> None:
    if not isinstance(config.get(key), str) or not config[key]:
        raise OptionError(option, f"needs a {key!r}, a text.")


def _texts(option: str, config: dict[str, Any], key: str) -> None:
    value = config.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise OptionError(option, f"{key!r} takes a list of texts.")


def _text_map(option: str, config: dict[str, Any], key: str) -> None:
    value = config.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise OptionError(option, f"{key!r} takes a dict of texts.")
