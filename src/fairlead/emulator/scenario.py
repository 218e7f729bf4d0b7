"""A scenario: what the scripted model says to which prompt, as values, and how it is loaded.

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

A step is one of `say`, `think`, `use` (+ `input`), `ask` (questions), `spawn` (a subagent, + its
own `steps`), `together` (several uses at once), `fail` (an HTTP status), `wait` (seconds).
`as` names a result; `{{name.text}}`, `{{name.failed}}`, `{{prompt}}` and `{{cwd}}` are filled in;
`if` and `unless` take `name.ok`, `name.failed` or `name.denied`.

`queue` holds whole replies that are given in order before any scene is tried. Pure but for
`load_file`; who gets what is `player`'s business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from fairlead.errors import UsageError

__all__ = ["Scenario", "Scene", "Step", "load", "load_file", "load_text", "load_tour", "read_yaml"]

ACTIONS = ("say", "think", "use", "ask", "spawn", "together", "fail", "wait")
MODIFIERS = {"input", "as", "if", "unless", "steps", "message", "pace", "id", "retry_after"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the model does."""

    action: str
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    """Of a subagent, or the uses that run together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Steps for the prompts that match."""

    when: str | None
    steps: tuple[Step, ...]
    name: str = ""

    def matches(self, prompt: str) -> bool:
        """Whether this scene answers a prompt; one without `when` answers all."""
        if self.when is None:
            return True
        pattern = self.when
        if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
            return re.search(pattern[1:-1], prompt, re.IGNORECASE) is not None
        return pattern.casefold() in prompt.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that the model knows."""

    scenes: tuple[Scene, ...] = ()
    queue: tuple[Mapping[str, Any], ...] = ()
    pace: float = 0.0
    """Seconds between two pieces of a text."""
    piece: int = 16
    """Characters in one piece of a text."""


def load(data: Any) -> Scenario:
    """A scenario from parsed YAML: a list of scenes, or a mapping with `scenes` and `queue`."""
    if isinstance(data, list):
        data = {"scenes": data}
    if not isinstance(data, dict):
        raise UsageError("a script is a list of scenes, or a mapping with `scenes` or `queue`")
    unknown = set(data) - {"scenes", "queue", "pace", "piece"}
    if unknown:
        raise UsageError(f"a script has no {', '.join(sorted(map(str, unknown)))}")
    return Scenario(
        scenes=tuple(_scene(scene) for scene in data.get("scenes") or ()),
        queue=tuple(data.get("queue") or ()),
        pace=float(data.get("pace") or 0.0),
        piece=int(data.get("piece") or 16),
    )


def load_text(text: str) -> Scenario:
    """A scenario from YAML."""
    return load(read_yaml(text))


def read_yaml(text: str) -> Any:
    """The data of a script."""
    yaml: Any = import_module("yaml")  # needed for scripts alone, so only they load it
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise UsageError(f"the script is not YAML: {problem}") from None


def load_file(path: Path) -> Scenario:
    """A scenario from a file of YAML or JSON."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"the script cannot be read: {problem}") from None
    return load(json.loads(text)) if path.suffix == ".json" else load_text(text)


def load_tour() -> Scenario:
    """The default: a tour of what Fairlead can show."""
    tour = files("fairlead.emulator") / "scenarios" / "tour.yaml"
    return load_text(tour.read_text(encoding="utf-8"))


def _scene(data: Any) -> Scene:
    if not isinstance(data, dict) or "steps" not in data:
        raise UsageError(f"a scene needs `steps`, and `when` unless it is for any prompt: {data!r}")
    when = data.get("when")
    return Scene(
        when=None if when is None else str(when),
        steps=_steps(data["steps"]),
        name=str(data.get("name", when or "")),
    )


def _steps(data: Any) -> tuple[Step, ...]:
    if not isinstance(data, list | tuple):
        raise UsageError(f"steps are a list, not {data!r}")
    return tuple(_step(step) for step in data)


def _step(data: Any) -> Step:
    if isinstance(data, str):
        return Step(action="say", value=data)
    chosen = [name for name in ACTIONS if isinstance(data, dict) and name in data]
    if len(chosen) != 1:
        raise UsageError(f"a step is one of {', '.join(ACTIONS)}, not {data!r}")
    action = chosen[0]
    unknown = set(data) - MODIFIERS - {action}
    if unknown:
        raise UsageError(f"a step `{action}` has no {', '.join(sorted(map(str, unknown)))}")
    value = data[action]
    inner: Iterable[Any] = value if action == "together" else data.get("steps") or ()
    return Step(
        action=action,
        value=value,
        options={key: data[key] for key in data if key in MODIFIERS - {"steps"}},
        steps=_steps(list(inner)),
    )
