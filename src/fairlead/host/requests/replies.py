"""Replies to requests that a program has left open."""

from __future__ import annotations

from typing import TypeAlias

from fairlead.host.requests.decisions import Decision
from fairlead.host.requests.elicitations import ElicitationReply
from fairlead.host.requests.plans import PlanReply
from fairlead.host.requests.questions import QuestionReply

__all__ = ["Reply"]

Reply: TypeAlias = Decision | QuestionReply | PlanReply | ElicitationReply
"""What `Session.answer` takes; a dialog takes any JSON value."""
