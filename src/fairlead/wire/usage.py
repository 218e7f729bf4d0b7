"""Token counts and cost, in the two spellings of the CLI.

`Usage` is the API's (snake case), for one message or one turn. `ModelUsage` is the
CLI's own (camel case) and is cumulative over the process: CLI-507.
"""

from typing import Any

from msgspec import Struct, ValidationError, field

from fairlead.wire import decoders

__all__ = ["ModelUsage", "Usage", "read_model_usage"]


class Usage(Struct, frozen=True, gc=False):
    """Tokens of one message or, in a result, of one turn of the main loop."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    service_tier: str | None = None
    server_tool_use: Any = None


class ModelUsage(Struct, frozen=True, rename="camel"):
    """Tokens and cost of one model since the process started."""

    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int | None = None
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    web_search_requests: int = 0
    cost_usd: float = field(default=0.0, name="costUSD")
    context_window: int | None = None
    max_output_tokens: int | None = None
    canonical_model: str | None = None
    provider: str | None = None


def read_model_usage(value: Any) -> ModelUsage:
    """Read the figures of a model from plain JSON values; values of a wrong type count as none."""
    try:
        usage: ModelUsage = decoders.convert(value, ModelUsage, strict=False)
    except ValidationError:
        return ModelUsage()
    return usage
