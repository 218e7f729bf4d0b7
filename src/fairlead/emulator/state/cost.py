"""What a session has used: tokens by model, dollars, and the figures of one turn.

Pure. Usage and num_turns are of one turn, cost and modelUsage of the whole session (CLI-518).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, structs

from fairlead.emulator.state.catalog import Model
from fairlead.emulator.state.profile import Profile

__all__ = ["LONG", "ModelUse", "Spending", "TurnUse", "model_of", "plan_model", "resolve_model"]

LONG = "[1m]"
"""The end of a model's name that asks for a context of a million tokens (CLI-1650)."""
LONG_CONTEXT = 1_000_000

COUNTS = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)


def plan_model(profile: Profile, model: str) -> str:
    """The model that answers in plan mode: Sonnet in place of Haiku."""
    names = {known.alias: known.name for known in profile.catalog.models}
    return names["sonnet"] if model == names["haiku"] else model


def resolve_model(profile: Profile, requested: str | None) -> str:
    """The full name for an alias; an unknown name is used unchanged."""
    if not requested or requested == "default":
        return profile.default_model.name
    plain = requested.removesuffix(LONG)
    plain = profile.catalog.model_aliases.get(plain, plain)
    for model in profile.catalog.models:
        if plain in (model.alias, model.name):
            keeps = requested.endswith(LONG) and not profile.drops_long_context
            return f"{model.name}{LONG}" if keeps else model.name
    return requested


def model_of(profile: Profile, name: str) -> Model:
    """The entry of a model; one that is not listed is like the default, at its own price."""
    if name.endswith(LONG):
        plain = model_of(profile, name.removesuffix(LONG))
        return structs.replace(plain, context_window=LONG_CONTEXT)
    catalog = profile.catalog
    listed = next((model for model in catalog.models if model.name == name), None)
    if listed is not None:
        return listed
    prices = (price for part, price in catalog.other_prices.items() if part in name)
    price = next(prices, catalog.unknown_price)
    return structs.replace(profile.default_model, name=name, dollars_per_million=price)


class ModelUse(Struct):
    """Input and output tokens of one model."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    dollars: float = 0.0

    def add(self, usage: Mapping[str, Any], model: Model) -> None:
        for name in COUNTS:
            self.counts[name] += int(usage.get(name) or 0)
        price_in, price_out = model.dollars_per_million
        taken = sum(int(usage.get(name) or 0) for name in COUNTS[:3])
        output_tokens = int(usage.get("output_tokens") or 0)
        self.dollars += (taken * price_in + output_tokens * price_out) / 1_000_000

    def report(self, model: Model, name: str, profile: Profile) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "inputTokens": self.counts["input_tokens"],
            "outputTokens": self.counts["output_tokens"],
            "cacheReadInputTokens": self.counts["cache_read_input_tokens"],
            "cacheCreationInputTokens": self.counts["cache_creation_input_tokens"],
            "webSearchRequests": 0,
            "costUSD": round(self.dollars, 8),
            "contextWindow": model.context_window,
            "maxOutputTokens": model.max_output,
        }
        if profile.details_model_usage:
            entry |= {
                "thinkingTokens": 0,
                "cacheCreationEphemeral5mInputTokens": 0,
                "cacheCreationEphemeral1hInputTokens": 0,
                "canonicalModel": name,
                "provider": "firstParty",
                "costBasis": "list",
            }
        return entry


class TurnUse(Struct):
    """What the main loop of one turn used."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def add(self, usage: Mapping[str, Any]) -> None:
        for name in COUNTS:
            self.counts[name] += int(usage.get(name) or 0)

    def report(self, profile: Profile) -> dict[str, Any]:
        usage: dict[str, Any] = dict(self.counts)
        if profile.details_usage:
            usage["output_tokens_details"] = {"thinking_tokens": 0}
        usage |= {
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": "",
            "iterations": [],
        }
        if profile.details_usage:
            usage |= {"speed": "standard", "fallback_credit": None}
        return usage


class Spending:
    """The cost of a session."""

    def __init__(self, profile: Profile, carried_over: float = 0.0) -> None:
        self._profile = profile
        self._models: dict[str, ModelUse] = {}
        self._since_result: dict[str, ModelUse] = {}
        self._carried_over = carried_over
        self.api_ms = 0
        self.context_tokens = 0
        """Tokens in the context of the last request of the main loop."""

    def add(self, model: str, usage: Mapping[str, Any]) -> None:
        entry = model_of(self._profile, model)
        for book in (self._models, self._since_result):
            book.setdefault(model, ModelUse()).add(usage, entry)

    @property
    def dollars(self) -> float:
        spent = sum(use.dollars for use in self._models.values())
        return round(self._carried_over + spent, 8)

    @property
    def uses(self) -> Mapping[str, ModelUse]:
        return self._models

    def by_model(self) -> dict[str, Any]:
        return self._report(self._models)

    def since_last_result(self) -> dict[str, Any]:
        report = self._report(self._since_result)
        self._since_result = {}
        return report

    def _report(self, book: Mapping[str, ModelUse]) -> dict[str, Any]:
        profile = self._profile
        return {
            name: use.report(model_of(self._profile, name), name, profile)
            for name, use in book.items()
        }
