"""Full-text search in conversations."""

from __future__ import annotations

import tempfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import Filters, Hit, expression
from fairlead.transcript.state.model import (
    CommandItem,
    NoticeItem,
    PromptItem,
    TextItem,
    ThinkingItem,
    ToolItem,
)

ITEMS = [
    PromptItem(id="p1", at=10.0, text="Please fix the Überlauf in src/ship/fair_lead.py"),
    TextItem(id="t1", at=20.0, text="The rope runs free; nothing chafes.", complete=True),
    ToolItem(
        id="b1", at=30.0, name="Bash", input={"command": "grep -rn 'rope' hull/"}, state="done"
    ),
    ToolItem(
        id="e1",
        at=40.0,
        name="Edit",
        input={"file_path": "/home/me/hull/keel.txt", "old_string": "secret old words"},
        state="failed",
        result="String to replace not found in file.",
    ),
    NoticeItem(id="n1", at=50.0, notice="api", level="error", text="Overloaded, try later"),
    CommandItem(id="c1", at=60.0, command="context", text="12% of the window"),
]
UNFINISHED = [
    TextItem(id="u1", text="rope rope rope"),
    ToolItem(id="u2", name="Bash", input={"command": "rope"}, state="running"),
    ThinkingItem(id="u3", text="rope?", complete=True),
    PromptItem(id="u4", text="rope", state="held"),
    NoticeItem(id="u5", text="rope", level="info"),
]


@pytest.fixture
async def filled(store: SqliteStore) -> SqliteStore:
    await store.index_items("s1", [*ITEMS, *UNFINISHED], project="/srv/ship", model="opus")
    other = [PromptItem(id="p1", at=70.0, text="Where is the rope?")]
    await store.index_items("s2", other, project="/srv/dock", model="haiku")
    return store


def found(hits: list[Hit]) -> set[tuple[str, str, str]]:
    return {(hit.session, hit.item, hit.kind) for hit in hits}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("überlauf", {("s1", "p1", "prompt")}),
        ("UBERLAUF fix", {("s1", "p1", "prompt")}),
        ("chafes", {("s1", "t1", "answer")}),
        ("grep", {("s1", "b1", "command")}),
        ("hull/keel.txt", {("s1", "e1", "path")}),
        ("fair_lead.py", {("s1", "p1", "prompt")}),
        ("keel", {("s1", "e1", "path")}),
        ('"replace not found"', {("s1", "e1", "error")}),
        ("overloaded", {("s1", "n1", "error")}),
        ("context", {("s1", "c1", "command")}),
        ("rope", {("s1", "t1", "answer"), ("s1", "b1", "command"), ("s2", "p1", "prompt")}),
        ("secret", set()),
        ("rope keel", set()),
    ],
)
async def test_S29_finished_items_are_found_by_what_they_say(
    filled: SqliteStore, query: str, expected: set[tuple[str, str, str]]
) -> None:
    assert found(await filled.search(query)) == expected


async def test_S29_an_item_that_comes_again_replaces_itself(store: SqliteStore) -> None:
    await store.index_items("s", [TextItem(id="t", text="first words", complete=True)])
    await store.index_items("s", [TextItem(id="t", text="other words", complete=True)])
    assert await store.search("first") == []
    assert found(await store.search("words")) == {("s", "t", "answer")}


async def test_S29_the_prompt_of_a_subagent_is_not_one_of_the_users(store: SqliteStore) -> None:
    asked = PromptItem(id="p", text="look at the sails")
    given = PromptItem(id="a", text="count the sails", parent="call")
    await store.index_items("s", [asked, given])
    assert found(await store.search("sails")) == {("s", "p", "prompt"), ("s", "a", "agent")}


async def test_S29_plain_json_is_as_good_as_structs(store: SqliteStore) -> None:
    await store.index_items("s", [{"kind": "text", "id": "t", "text": "plain", "complete": True}])
    odd: list[Any] = [None, {}, {"kind": "text", "id": 5, "text": [], "complete": True}, "x"]
    await store.index_items("s", odd)
    assert found(await store.search("plain")) == {("s", "t", "answer")}


async def test_S29_many_items_are_taken_in_parts(store: SqliteStore) -> None:
    many = [TextItem(id=str(n), text=f"word{n} all", complete=True) for n in range(450)]
    await store.index_items("s", many)
    assert len(await store.search("all", Filters(limit=1000))) == 450
    assert found(await store.search("word449")) == {("s", "449", "answer")}


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("cha", True),
        ("cha ", False),
        ('"runs free"', True),
        ('"free runs"', False),
        ("free runs", True),
        ('"runs fr', True),
        ("rope -- ; free", True),
    ],
)
async def test_S30_the_last_word_may_be_half_and_quoted_words_keep_their_order(
    filled: SqliteStore, query: str, matches: bool
) -> None:
    hits = await filled.search(query, Filters(kinds=("answer",)))
    assert found(hits) == ({("s1", "t1", "answer")} if matches else set())


async def test_S30_a_hit_shows_where_it_matches(filled: SqliteStore) -> None:
    (hit,) = await filled.search("rope", Filters(kinds=("answer",)))
    assert [(item.text, item.match) for item in hit.snippet] == [
        ("The ", False),
        ("rope", True),
        (" runs free; nothing chafes.", False),
    ]
    assert (hit.at, hit.project) == (20.0, "/srv/ship")


async def test_S30_a_text_cannot_forge_the_marks_of_a_match(store: SqliteStore) -> None:
    forged = TextItem(id="t", text="\x02forged\x03 and real", complete=True)
    await store.index_items("s", [forged])
    (hit,) = await store.search("real")
    assert [item.text for item in hit.snippet if item.match] == ["real"]


@given(st.text())
def test_S31_every_expression_is_balanced(query: str) -> None:
    assert expression(query).count('"') % 2 == 0


async def test_S31_no_text_is_an_error() -> None:
    queries = st.text(alphabet=st.sampled_from('ab"*^:()-+,{}\\ \n\x00\ud800é☃NEARORANDNOT'))

    with tempfile.TemporaryDirectory() as folder:
        async with SqliteStore(folder) as store:
            await store.index_items("s", ITEMS)
            for query in examples(queries):
                assert isinstance(await store.search(query), list)


def examples(strategy: st.SearchStrategy[str]) -> list[str]:
    """A few hundred values, the same in each run."""
    collected: list[str] = []

    @settings(max_examples=300, derandomize=True, database=None)
    @given(strategy)
    def collect(value: str) -> None:
        collected.append(value)

    collect()
    return collected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(session="s2"), {"s2:p1"}),
        (Filters(project="/srv/ship"), {"s1:t1", "s1:b1"}),
        (Filters(project="/srv"), set()),
        (Filters(model="haiku"), {"s2:p1"}),
        (Filters(model="opus", kinds=("command",)), {"s1:b1"}),
        (Filters(model="sonnet"), set()),
        (Filters(kinds=("prompt", "command")), {"s2:p1", "s1:b1"}),
        (Filters(after=30.0), {"s1:b1", "s2:p1"}),
        (Filters(before=30.0), {"s1:t1"}),
        (Filters(after=21.0, before=69.0), {"s1:b1"}),
        (Filters(limit=0), set()),
    ],
)
async def test_S32_hits_can_be_limited(
    filled: SqliteStore, filters: Filters, expected: set[str]
) -> None:
    hits = await filled.search("rope", filters)
    assert {f"{hit.session}:{hit.item}" for hit in hits} == expected


async def test_S32_hits_come_newest_first_in_pages(filled: SqliteStore) -> None:
    pages = [
        await filled.search("rope", Filters(newest_first=True, limit=2, offset=offset))
        for offset in (0, 2)
    ]
    assert [[item.at for item in page] for page in pages] == [[70.0, 30.0], [20.0]]


async def test_S32_the_best_match_comes_first(store: SqliteStore) -> None:
    long = TextItem(id="long", text="rope " + "and other things " * 50, complete=True)
    short = TextItem(id="short", text="rope rope", complete=True)
    await store.index_items("s", [long, short])
    assert [item.item for item in await store.search("rope")] == ["short", "long"]


async def test_S41_what_was_forgotten_of_a_session_is_not_found_and_can_come_again(
    filled: SqliteStore,
) -> None:
    await filled.forget_items("s1")
    assert {hit.session for hit in await filled.search("rope")} == {"s2"}
    await filled.forget_items("nobody")
    await filled.index_items("s1", ITEMS)
    assert {hit.session for hit in await filled.search("rope")} == {"s1", "s2"}
