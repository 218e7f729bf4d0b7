"""`python -m bench.reduce [COUNT]`: what one delta costs the reducer, and whether that grows.

Folds one message of COUNT text deltas (200,000 unless told otherwise) and a session of many
steps, and prints processor time per line: decoding alone, reducing alone, and the reducer's
first and last tenth, which must not differ.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterable

from bench.shapes import Line
from bench.traffic import agent_session, text_deltas
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import AnyMessage, decode

DELTAS = 200_000
STEPS = 2_000
BETWEEN_DELTAS_S = 0.02
"""How far apart the deltas are for the reducer: fifty in a second."""


def main(arguments: list[str]) -> None:
    count = int(arguments[0]) if arguments else DELTAS
    _measure(f"{count:,} text deltas in one message", text_deltas(count))
    _measure(f"{STEPS:,} steps of an agent", agent_session(STEPS))


def _measure(title: str, lines: Iterable[Line]) -> None:
    raw = [json.dumps(line, separators=(",", ":")).encode() for line in lines]
    gc.collect()
    began = time.process_time()
    messages = [decode(line) for line in raw]
    decoding = (time.process_time() - began) / len(raw) * 1e6
    transcript = Transcript()
    tenths, end = _reduce_in_tenths(transcript, messages)
    reducing = (sum(tenths) + end) / len(raw) * 1e6
    began = time.process_time()
    size = len(transcript.snapshot().json())
    snapshot = time.process_time() - began
    print(title)
    print(f"  decode          {decoding:6.2f} µs a line")
    print(f"  reduce          {reducing:6.2f} µs a line, {reducing / decoding:.2f} x decode")
    print(f"  last/first 10 % {tenths[-1] / tenths[0]:6.2f}")
    print(f"  snapshot        {size / 1e6:6.2f} MB in {snapshot * 1e3:.1f} ms")


def _reduce_in_tenths(
    transcript: Transcript, messages: list[AnyMessage]
) -> tuple[list[float], float]:
    """Seconds of processor time for each tenth of the messages, and for the result after them.

    The result is apart because it tidies up once, whatever there is.
    """
    gc.collect()
    feed = transcript.feed
    *lines, last = messages
    step = len(lines) // 10
    tenths = []
    at = 0.0
    for tenth in range(10):
        part = lines[tenth * step : (tenth + 1) * step if tenth < 9 else None]
        began = time.process_time()
        for message in part:
            at += BETWEEN_DELTAS_S
            feed(message, at)
        tenths.append((time.process_time() - began) * step / len(part))
    began = time.process_time()
    feed(last, at)
    return tenths, time.process_time() - began


if __name__ == "__main__":
    main(sys.argv[1:])
