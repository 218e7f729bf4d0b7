"""Building typed values from what does not quite fit."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from fairlead.wire.blocks import NEVER
from fairlead.wire.tolerant import Misfit, build


class Sail(Struct, tag_field="type", tag="sail"):
    area: int
    name: str = "main"


class Oar(Struct, tag_field="type", tag="oar"):
    length: float = 2.5


class Strange(Struct, tag_field="type", tag=f"{NEVER}strange"):
    type_name: str = ""
    data: Any = None
    problem: str = ""


class Boat(Struct):
    name: str
    gear: tuple[Sail | Oar | Strange, ...] = ()
    crew: dict[str, Oar] = msgspec.field(default_factory=dict)
    first: Sail | Oar | None = None
    draught: float | None = None


def built(value: Any) -> tuple[Boat, list[str]]:
    problems: list[str] = []
    return build(Boat, value, problems), problems


def test_what_fits_is_built_without_a_word() -> None:
    boat, problems = built({"name": "Ida", "gear": [{"type": "oar", "length": 3}], "draught": 1})
    assert boat == Boat(name="Ida", gear=(Oar(3.0),), draught=1.0)
    assert problems == []


def test_an_unknown_member_keeps_everything_and_its_neighbors_stay_typed() -> None:
    kite = {"type": "kite", "lines": [1, 2]}
    boat, problems = built({"name": "Ida", "gear": [{"type": "oar"}, kite, {"type": "oar"}]})
    assert boat.gear == (Oar(), Strange("kite", kite, ""), Oar())
    assert problems == ["gear[1]: unknown kind"]


def test_a_known_member_that_does_not_fit_says_why() -> None:
    torn = {"type": "sail", "name": "jib"}
    boat, problems = built({"name": "Ida", "gear": [torn]})
    (gear,) = boat.gear
    assert isinstance(gear, Strange)
    assert (gear.type_name, gear.data) == ("sail", torn)
    assert "area" in gear.problem
    assert problems == [f"gear[0]: {gear.problem}"]


@pytest.mark.parametrize("tag", [None, 5, [1], {"a": 1}])
def test_a_member_whose_tag_is_no_text_is_kept_with_a_reason(tag: Any) -> None:
    boat, _ = built({"name": "Ida", "gear": [{"type": tag}]})
    (gear,) = boat.gear
    assert isinstance(gear, Strange)
    assert (gear.type_name, gear.data) == ("", {"type": tag})
    assert gear.problem


def test_a_member_that_is_no_object_is_kept() -> None:
    boat, _ = built({"name": "Ida", "gear": ["rope", None]})
    assert [g.data for g in boat.gear if isinstance(g, Strange)] == ["rope", None]


def test_an_optional_field_that_does_not_fit_falls_back_and_the_others_stay() -> None:
    boat, problems = built({"name": "Ida", "gear": "none", "crew": [], "draught": "deep"})
    assert boat == Boat(name="Ida")
    assert [problem.split(":")[0] for problem in problems] == ["gear", "crew", "draught"]


def test_a_bad_field_inside_a_value_of_a_table_falls_back_alone() -> None:
    boat, problems = built({"name": "Ida", "crew": {"Tom": {"type": "oar", "length": "long"}}})
    assert boat.crew == {"Tom": Oar()}
    assert len(problems) == 1
    assert problems[0].startswith("crew.Tom.length: ")


def test_a_union_without_a_fallback_drops_only_the_field() -> None:
    boat, problems = built({"name": "Ida", "first": {"type": "kite"}, "draught": 1})
    assert boat == Boat(name="Ida", draught=1.0)
    assert len(problems) == 1


@pytest.mark.parametrize("value", [{}, {"name": 5}, [], None, "Ida"])
def test_a_value_whose_required_fields_do_not_fit_is_given_up(value: Any) -> None:
    with pytest.raises(Misfit):
        build(Boat, value, [])
