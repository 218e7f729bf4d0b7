"""Asks a person at a terminal: may this run, which answer, is this plan good.

The whole input is shown before the question, never shortened: what is approved is what runs.
Reading a line happens in a thread, so the session goes on meanwhile, and a request that the
CLI withdraws takes its question back.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from fairlead.commands.line_input import LineInput
from fairlead.commands.screen import Screen
from fairlead.commands.terminal import Style, plain
from fairlead.host.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.plans import Approve, PlanReply, PlanRequest, Reject
from fairlead.host.questions import Answers, Question, QuestionRequest
from fairlead.wire.updates import PermissionUpdate

__all__ = ["Approval"]


class Approval:
    """The person at the keyboard, as handlers for a session."""

    def __init__(self, screen: Screen, style: Style, lines: LineInput) -> None:
        self._screen = screen
        self._style = style
        self._lines = lines

    async def permission(self, request: PermissionRequest) -> Decision:
        """Show the whole call and ask."""
        self._screen.end_text()
        style = self._style
        self._say(style.ask(f"? {plain(request.tool_name)} wants to run"))
        self._say(_indented(plain(whole_input(request.input))))
        if request.reason:
            self._say(style.dim(f"  because: {plain(request.reason)}"))
        choices = "[y]es, [n]o, [s]top"
        if request.suggestions:
            for update in request.suggestions:
                self._say(style.dim(f"  always would: {plain(update_in_words(update))}"))
            choices = "[y]es, [a]lways, [n]o, [s]top"
        return await self._decide(request, choices)

    async def _decide(self, request: PermissionRequest, choices: str) -> Decision:
        while True:
            typed = (await self._lines.read(self._style.ask(f"  {choices} > "))) or ""
            word = typed.strip().lower()
            if word in ("y", "yes"):
                return Allow()
            if word in ("a", "always") and request.suggestions:
                return Allow.always(request)
            if word in ("s", "stop"):
                return Deny("The user wants to stop here.", interrupt=True)
            if word in ("n", "no") or not typed:
                return Deny("The user said no.")
            self._say(self._style.dim("  please type one of the letters"))

    async def question(self, request: QuestionRequest) -> Answers:
        """Show the questions one after the other and collect the answers."""
        self._screen.end_text()
        answers: dict[str, str] = {}
        for question in request.questions:
            self._show_question(question)
            hint = "numbers or your own words" if question.choices else "your words"
            typed = (await self._lines.read(self._style.ask(f"  {hint} > "))) or ""
            answer = _chosen(question, typed.strip())
            if answer:
                answers[question.text] = answer
        return Answers(answers)

    async def plan(self, request: PlanRequest) -> PlanReply:
        """Show the plan and ask."""
        self._screen.end_text()
        self._say(self._style.ask("? a plan is ready"))
        self._say(_indented(plain(request.plan or "(the CLI did not show its text)")))
        typed = await self._lines.read(
            self._style.ask("  [y]es, yes and accept [e]dits, or say what to change > ")
        )
        word = (typed or "").strip()
        if word.lower() in ("y", "yes"):
            return Approve()
        if word.lower() in ("e", "edits"):
            return Approve(accept_edits=True)
        return Reject(word or "The user wants another plan.")

    def _show_question(self, question: Question) -> None:
        self._say(self._style.ask(f"? {plain(question.text)}"))
        for number, choice in enumerate(question.choices, 1):
            more = self._style.dim(f"  {plain(choice.description)}") if choice.description else ""
            self._say(f"  {number}. {plain(choice.label)}{more}")

    def _say(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def whole_input(given: Mapping[str, Any]) -> str:
    """A tool's input in full, a command or a text as it is and the rest as JSON."""
    if set(given) <= {"command", "description"} and isinstance(given.get("command"), str):
        return str(given["command"])
    return json.dumps(dict(given), indent=2, ensure_ascii=False)


def update_in_words(update: PermissionUpdate) -> str:
    """A suggested change of the rules, for a person."""
    plain_update = msgspec.to_builtins(update)
    where = plain_update.get("destination", "session")
    rules = getattr(update, "rules", None)
    if rules:
        return f"{plain_update['behavior']} {', '.join(str(rule) for rule in rules)} ({where})"
    if "directories" in plain_update:
        return f"work in {', '.join(plain_update['directories'])} ({where})"
    if "mode" in plain_update:
        return f"change to the mode {plain_update['mode']} ({where})"
    return json.dumps(plain_update)


def _chosen(question: Question, typed: str) -> str:
    words = [word.strip() for word in typed.split(",")] if question.multi_select else [typed]
    labels = []
    for word in words:
        if word.isdigit() and 1 <= int(word) <= len(question.choices):
            labels.append(question.choices[int(word) - 1].label)
        elif word:
            labels.append(word)
    return ", ".join(labels)


def _indented(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.split("\n"))
