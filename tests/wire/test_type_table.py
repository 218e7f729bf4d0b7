"""The table of message types in docs/wire.md."""

from __future__ import annotations

from tests.wire.type_table import table, table_in_document


def test_the_table_of_types_in_the_document_is_complete() -> None:
    assert table_in_document() == table(), "run: python -m tests.wire.type_table"
