"""The hash of a tool's input: one canonical text, and large inputs piece by piece."""

from __future__ import annotations

import hashlib
import json
import random
import time
from typing import Any

import pytest

from fairlead.wire.input_hash import LARGE, canonical_json, input_sha256, is_large

ODD = 'a"\\\n\x00\x1f\x7f\u2028é漢🚀\ud800\udfff'


def whole(value: Any) -> str:
    """The hash of the text that one call of the encoder writes."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


LARGE_INPUTS: dict[str, dict[str, Any]] = {
    "one text": {"command": "x" * (LARGE + 1)},
    "odd characters": {"command": ODD * (LARGE // len(ODD) + 1)},
    "a text cut within a pair": {"z": "\ud83d" * 65_535 + "🚀" * LARGE, "a": None},
    "many numbers": {"numbers": [random.Random(7).random() for _ in range(80_000)]},
    "many keys": {f"key {n}": [n, {"b": 1, "a": [True, None]}] for n in range(40_000)},
    "a large part among small ones": {"b": {"y": 1, "x": ["q" * LARGE]}, "a": {}, "c": []},
    "a large key": {"k" * LARGE: 1},
    "numbers and truths": {"a": [0, -1, 10**30, 1.5, 1e300, True, False, None, {}, []] * 9_000},
    "empty and nested": {"a": [[[{}]]], "b": "w" * LARGE, "c": {"d": ""}},
}


@pytest.mark.parametrize("value", LARGE_INPUTS.values(), ids=list(LARGE_INPUTS))
def test_a_large_input_has_the_hash_of_its_whole_text(value: dict[str, Any]) -> None:
    assert is_large(value)
    assert input_sha256(value) == whole(value)


@pytest.mark.parametrize(
    "value", [{}, {"command": "ls"}, {"command": ODD}, {"a": [1, 2.5, {"b": None}]}]
)
def test_a_small_input_is_hashed_at_once(value: dict[str, Any]) -> None:
    assert not is_large(value)
    assert input_sha256(value) == whole(value) == hashlib.sha256(canonical_json(value)).hexdigest()


def test_a_deeply_nested_input_takes_no_longer_than_a_flat_one() -> None:
    flat: Any = {"x": [{"a": number} for number in range(40_000)]}
    deep = flat
    for _ in range(300):
        deep = {"d": [deep, "k"]}
    assert input_sha256(deep) == whole(deep)
    assert spent(deep) < 5 * spent(flat)


def spent(value: dict[str, Any]) -> float:
    """The least CPU time of some attempts to hash a value."""
    times = []
    for _ in range(3):
        before = time.thread_time()
        input_sha256(value)
        times.append(time.thread_time() - before)
    return min(times)


def test_the_order_of_keys_does_not_count() -> None:
    text = "v" * LARGE
    assert input_sha256({"a": text, "b": 1}) == input_sha256({"b": 1, "a": text})
