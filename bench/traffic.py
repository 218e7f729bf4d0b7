"""The prepared files: what a CLI writes in one turn, many times over.

Two kinds. `text_deltas` is the worst case for a host: one message, in very many small pieces.
`agent_session` is a turn of many steps (think, speak, call a tool, get 12 KB back), the lines of
each in the order of the recording 2.1.325/partial. The `init` and the `result` are those of that
recording, word for word. The same call always writes the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import shapes
from bench.shapes import Line, Source

__all__ = ["RECORDING", "Traffic", "agent_session", "text_deltas", "write"]

RECORDING = Path(__file__).parent.parent / "tests" / "recordings" / "2.1.325" / "partial.ndjson"

TOOL_RESULT_SIZE = 12 * 1024
WORDS_IN_DELTA = 3
"""With it a line has about 300 bytes."""

THOUGHTS = 6
SENTENCES = 14
INPUT_PARTS = 10
SIGNATURE = "c2ln" * 80
"""Thinking, text and tool input of a step come in so many deltas; every second step thinks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """A prepared file and what is in it."""

    name: str
    path: Path
    messages: int
    size: int
    kinds: dict[str, int]
    """How many lines there are of each `type`."""


def write(name: str, lines: Iterable[Line], folder: Path) -> Traffic:
    """Write lines to a file of that name, as the CLI does: compact, in UTF-8."""
    path = folder / f"{name}.ndjson"
    kinds: Counter[str] = Counter()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            kinds[line["type"]] += 1
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    size = path.stat().st_size
    return Traffic(name=name, path=path, messages=kinds.total(), size=size, kinds=dict(kinds))


def text_deltas(count: int) -> Iterator[Line]:
    """An init, a message of so many text deltas of about 300 bytes, and a result."""
    source = Source(seed=1)
    yield _recorded("system")
    yield shapes.message_start(source, 0)
    yield shapes.block_start(source, 0, 0, {"type": "text", "text": ""})
    for _ in range(count):
        delta = {"type": "text_delta", "text": source.words(WORDS_IN_DELTA)}
        yield shapes.block_delta(source, 0, 0, delta)
    yield shapes.block_stop(source, 0, 0)
    yield from _message_end(source, 0, "end_turn")
    yield _recorded("result")


def agent_session(steps: int) -> Iterator[Line]:
    """An init, so many steps of an agent at work, and a result."""
    source = Source(seed=2)
    yield _recorded("system")
    for step in range(steps):
        yield from _step(source, step)
    yield _recorded("result")


def _step(source: Source, step: int) -> Iterator[Line]:
    yield shapes.status(source)
    yield shapes.message_start(source, step)
    thinks = step % 2 == 0
    if thinks:
        yield from _thinking(source, step)
    yield from _speech(source, step, int(thinks))
    yield from _tool_call(source, step, int(thinks) + 1)
    yield from _message_end(source, step, "tool_use")
    yield shapes.tool_result(source, step, TOOL_RESULT_SIZE)


def _thinking(source: Source, step: int) -> Iterator[Line]:
    begun = {"type": "thinking", "thinking": "", "signature": ""}
    yield shapes.block_start(source, step, 0, begun)
    thoughts = [source.words(6) for _ in range(THOUGHTS)]
    for number, thought in enumerate(thoughts, 1):
        yield shapes.thinking_tokens(source, 8 * number, 8)
        delta = {"type": "thinking_delta", "thinking": thought}
        yield shapes.block_delta(source, step, 0, delta)
    signature = {"type": "signature_delta", "signature": SIGNATURE}
    yield shapes.block_delta(source, step, 0, signature)
    block = {"type": "thinking", "thinking": "".join(thoughts), "signature": SIGNATURE}
    yield shapes.assistant(source, step, block)
    yield shapes.block_stop(source, step, 0)


def _speech(source: Source, step: int, index: int) -> Iterator[Line]:
    yield shapes.block_start(source, step, index, {"type": "text", "text": ""})
    texts = [source.words(5) for _ in range(SENTENCES)]
    for text in texts:
        yield shapes.block_delta(source, step, index, {"type": "text_delta", "text": text})
    yield shapes.assistant(source, step, {"type": "text", "text": "".join(texts)})
    yield shapes.block_stop(source, step, index)


def _tool_call(source: Source, step: int, index: int) -> Iterator[Line]:
    block = shapes.tool_use(step)
    yield shapes.block_start(source, step, index, {**block, "input": {}})
    text = json.dumps(block["input"])
    for number in range(INPUT_PARTS):
        part = text[len(text) * number // INPUT_PARTS : len(text) * (number + 1) // INPUT_PARTS]
        delta = {"type": "input_json_delta", "partial_json": part}
        yield shapes.block_delta(source, step, index, delta)
    yield shapes.assistant(source, step, block)
    yield shapes.block_stop(source, step, index)


def _message_end(source: Source, step: int, reason: str) -> Iterator[Line]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    ending = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 42}}
    yield shapes.stream_event(source, step, ending)
    yield shapes.stream_event(source, step, {"type": "message_stop"})


def _recorded(kind: str) -> Line:
    """The first line of this type that the recorded CLI wrote."""
    for text in RECORDING.read_text("utf-8").splitlines():
        entry = json.loads(text)
        if entry["dir"] == "out" and entry["msg"]["type"] == kind:
            line: Line = entry["msg"]
            return line
    raise ValueError(f"{RECORDING} has no line of type {kind!r}")
