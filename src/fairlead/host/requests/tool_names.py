"""The tools whose permission requests are questions to the user or plans to review."""

from __future__ import annotations

__all__ = ["PLAN_TOOL", "QUESTION_TOOL"]

QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
