"""A CLI that is not signed in: the page says what to do, and does not suggest a retry."""

from __future__ import annotations

from playwright.async_api import expect

from tests.e2e.browser.conftest import BeginTurn


async def test_a_turn_without_a_login_says_where_to_log_in(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    words = "Not logged in · Please run /login"
    content = [{"type": "text", "text": words}]
    message = {"id": "m", "role": "assistant", "model": "<synthetic>", "content": content}
    # As in rec 2.1.325/no_auth.
    await cli.line(
        type="assistant", error="authentication_failed", is_api_error_message=True,
        message=message, parent_tool_use_id=None,
    )  # fmt: skip
    await cli.line(
        type="result", subtype="success", is_error=True, result=words, total_cost_usd=0,
        num_turns=1, terminal_reason="api_error",
    )  # fmt: skip
    await app.expect_words(words)
    await app.expect_words("Open a terminal there, start claude, run /login")
    await app.expect_words("The model request failed.")
    await expect(app.transcript.get_by_text("to retry")).to_have_count(0)
