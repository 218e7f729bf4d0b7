"""Prices of models, and which model answers for a name."""

from __future__ import annotations

import pytest

from fairlead.emulator.state.cost import Spending, resolve_model
from fairlead.emulator.state.profile import profile_of

USAGE = {"input_tokens": 100, "output_tokens": 42}


@pytest.mark.parametrize(
    ("version", "model", "dollars"),
    [
        ("2.1.38", "no-such-model", 0.00093),
        ("2.1.38", "claude-opus-4-6", 0.00155),
        ("2.1.38", "claude-opus-4-1-20250805", 0.00465),
        ("2.1.38", "claude-3-5-haiku-20241022", 0.000248),
        ("2.1.325", "no-such-model", 0.00124),
        ("2.1.325", "claude-sonnet-4-6", 0.00093),
        ("2.1.325", "claude-3-5-haiku-20241022", 0.000248),
    ],
)
def test_a_model_costs_what_the_real_cli_reports(version: str, model: str, dollars: float) -> None:
    """CLI-1636: the amounts of the real CLIs for these tokens."""
    spending = Spending(profile_of(version))
    spending.add(model, USAGE)
    assert spending.dollars == pytest.approx(dollars)


def test_other_names_of_models_are_resolved() -> None:
    """CLI-1636: `opusplan` is Sonnet outside of plan mode, and a retired model its successor."""
    assert resolve_model(profile_of("2.1.38"), "opusplan") == "claude-sonnet-4-5-20250929"
    assert resolve_model(profile_of("2.1.325"), "opusplan") == "claude-sonnet-5-5"
    assert resolve_model(profile_of("2.1.325"), "claude-opus-4-1-20250805") == "claude-opus-5-5"
