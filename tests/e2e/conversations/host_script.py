"""A host script: everything that one conversation with a CLI consists of, as plain data.

A script holds the command line, the files, the replies of the model, how the host answers
requests, and the steps of the host. The same script is played to the real CLI and to the
emulator. It is JSON, so it can be stored, hashed and reduced part by part.

Each step is a mapping with one of these keys:

    {"prompt": "go"}                    a user message; `content`, `uuid` and `fields` replace parts
    {"request": {"subtype": …}}         a control request
    {"line": "not json"}                one line as it is
    {"answer": {…}}                     the answer to the oldest request that was held
    {"signal": "SIGINT"}                a signal to the process
    {"restart": ["--continue"]}         ends the process and starts another one with these flags
    {"wait": "result"}                  waits for a line, see `host_player`
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

__all__ = ["Data", "HostScript"]

Data = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostScript:
    """One conversation."""

    name: str
    theme: str
    """The first segment: what the figures are grouped by."""
    flags: list[str] = field(default_factory=list)
    new_flags: list[str] = field(default_factory=list)
    """Flags that only 2.1.325 knows; not passed to 2.1.38."""
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """Path below the root (`project/…`, `home/…`, `outside/…`) -> text. `{root}` is replaced."""
    replies: list[Data] = field(default_factory=list)
    """The model's replies in the form of the emulator's `queue`."""
    permissions: list[str] = field(default_factory=list)
    """How permission requests are answered, in order (see `host_answers`); then `allow`."""
    hooks: dict[str, list[Any]] = field(default_factory=dict)
    """Callback id -> its answers in order; the last one repeats."""
    servers: list[str] = field(default_factory=list)
    """SDK MCP servers of the host (see `host_answers`)."""
    steps: list[Data] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Changes whenever the conversation changes."""
        data = asdict(self)
        del data["name"], data["theme"]
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> Data:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Data) -> HostScript:
        return cls(**data)

    @property
    def races(self) -> bool:
        """Whether the host writes a line and, without waiting, another one."""
        waits = ["wait" in step or "answer" in step for step in self.steps]
        return any(not first and not second for first, second in itertools.pairwise(waits))

    @property
    def segments(self) -> list[int]:
        """The numbers of the segments that are left."""
        return sorted({step["segment"] for step in self.steps})

    def without_segment(self, number: int) -> HostScript:
        """The script without the steps and replies of one segment."""
        return replace(
            self,
            steps=[step for step in self.steps if step["segment"] != number],
            replies=[reply for reply in self.replies if reply["segment"] != number],
        )
