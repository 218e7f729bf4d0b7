"""A scenario: the replies of the scripted model by prompt, as values, and how it is loaded.

Written in YAML (JSON is YAML too):

    - when: "fix the test"            # words of the prompt, or /a regular expression/
      steps:
        - say: "I look."
        - use: Bash
          input: {command: "pytest -q"}
          as: tests
        - say: "It failed: {{tests.text}}"
          if: tests.failed
    - steps: [{say: "You said: {{prompt}}"}]

All keys are in the tables of `script_schema`, which validates a script before it is loaded; which
prompt gets what is decided by `player`. Pure but for `load_file`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.script.schema import ACTIONS, OPTIONS, Mistake, check
from fairlead.emulator.script.source import ScriptSource, read_source
from fairlead.errors import UsageError

__all__ = ["Scenario", "Scene", "Step", "load", "load_file", "load_text", "load_tour", "read_yaml"]


class Step(Struct, frozen=True, kw_only=True):
    """One thing that the model does."""

    action: str
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    """The steps of a subagent, or those of one message."""


class Scene(Struct, frozen=True, kw_only=True):
    """Steps for the prompts that match."""

    when: str | None
    steps: tuple[Step, ...]
    name: str = ""
    suggest: str | None = None
    """The next prompt that the CLI suggests after the turn."""

    @property
    def shown(self) -> str:
        """How messages name it."""
        return self.name or "one for every prompt"

    def matches(self, prompt: str) -> bool:
        """Whether this scene answers a prompt; one without `when` answers all."""
        if self.when is None:
            return True
        pattern = self.when
        if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
            return re.search(pattern[1:-1], prompt, re.IGNORECASE) is not None
        return pattern.casefold() in prompt.casefold()


class Scenario(Struct, frozen=True, kw_only=True):
    """All scenes and replies of a script."""

    scenes: tuple[Scene, ...] = ()
    queue: tuple[Mapping[str, Any], ...] = ()
    suggest: str | None = None
    """The next prompt that the CLI suggests after a turn whose scene suggests none."""
    pace: float = 0.0
    """Seconds between two pieces of a text."""
    piece: int = 16
    """Characters in one piece of a text."""
    allows_unmatched: bool = False
    """Whether a prompt that no scene matches is answered with Done. instead of an error."""
    source: str = "the script"
    """The file it came from, for messages."""


def load(data: Any, source: str = "script") -> Scenario:
    """A scenario from data: a list of scenes, or a mapping with `scenes` and `queue`."""
    data = _plain(data)
    try:
        check(data)
    except Mistake as mistake:
        position = "".join(f"[{part!r}]" for part in mistake.at)
        raise UsageError(f"{source}{position}: {mistake}") from None
    return _scenario(data, source)


def load_text(text: str) -> Scenario:
    """A scenario from YAML."""
    return _load_source(ScriptSource(text))


def read_yaml(text: str) -> Any:
    """The data of a script."""
    return ScriptSource(text).parse()


def load_file(path: Path) -> Scenario:
    """A scenario from a file of YAML or JSON."""
    return _load_source(read_source(path))


def load_tour() -> Scenario:
    """The default: a tour of what Fairlead can show."""
    # Not `importlib.resources`: to import it takes as long as ten modules of the emulator.
    tour = Path(__file__).parents[1] / "scenarios" / "tour.yaml"
    return _load_source(ScriptSource(tour.read_text(encoding="utf-8"), "tour.yaml"))


def _load_source(source: ScriptSource) -> Scenario:
    data = source.parse()
    try:
        check(data)
    except Mistake as mistake:
        raise source.explained(mistake) from None
    except RecursionError:
        raise UsageError(f"{source.name}: the script contains itself.") from None
    return _scenario(data, source.name)


def _scenario(data: Any, source: str) -> Scenario:
    mapping: Mapping[str, Any] = {"scenes": data} if isinstance(data, list) else data
    return Scenario(
        scenes=tuple(_scene(scene) for scene in mapping.get("scenes") or ()),
        queue=tuple(mapping.get("queue") or ()),
        pace=float(mapping.get("pace") or 0.0),
        piece=int(mapping.get("piece") or 16),
        allows_unmatched=mapping.get("unmatched") == "done",
        suggest=mapping.get("suggest"),
        source=source,
    )


def _plain(value: Any) -> Any:
    """The same with lists and dicts only."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _scene(data: Mapping[str, Any]) -> Scene:
    when = data.get("when")
    return Scene(
        when=None if when is None else str(when),
        steps=_steps(data["steps"]),
        name=str(data.get("name", "" if when is None else when)),
        suggest=data.get("suggest"),
    )


def _steps(data: Iterable[Any]) -> tuple[Step, ...]:
    return tuple(_step(step) for step in data)


def _step(data: Any) -> Step:
    if isinstance(data, str):
        return Step(action="say", value=data)
    action = next(name for name in ACTIONS if name in data)
    value = data[action]
    return Step(
        action=action,
        value=value,
        options={key: data[key] for key in data if key in OPTIONS and key != "steps"},
        steps=_steps(value if action == "together" else data.get("steps") or ()),
    )
