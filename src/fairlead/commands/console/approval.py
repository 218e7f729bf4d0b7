"""Asks the user at a terminal: permissions, questions, plans and forms.

The whole input is shown before the question, never shortened: what is approved is what runs.
Text that was typed before the question could be read is not taken as an answer. If the CLI
withdraws a request, its question ends.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from fairlead.commands.console.edit_text import edit_lines
from fairlead.commands.console.form import Field, Misfit, fields_of
from fairlead.commands.console.keyboard import Interrupted, Keyboard
from fairlead.commands.console.screen import Screen
from fairlead.commands.console.terminal import Style, plain
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.elicitations import Accept, Cancel, Decline, ElicitationRequest
from fairlead.host.requests.plans import Approve, PlanReply, PlanRequest, Reject
from fairlead.host.requests.questions import Answers, Question, QuestionRequest
from fairlead.wire.updates import PermissionUpdate

__all__ = ["Approval"]

NO = re.compile(r"(?:n|no)(?:[\s,:.]+(?P<reason>.*))?", re.IGNORECASE | re.DOTALL)

INTERRUPTED = "The user interrupted."


class Approval:
    """Handlers of a session that ask the user at the keyboard."""

    def __init__(self, screen: Screen, style: Style, keyboard: Keyboard, folder: str = ".") -> None:
        self._screen = screen
        self._style = style
        self._keyboard = keyboard
        self._folder = folder

    def handlers(self) -> dict[str, Any]:
        """The handlers, as fields of `Options`."""
        return {
            "on_permission": self.permission,
            "on_question": self.question,
            "on_plan": self.plan,
            "on_elicitation": self.elicitation,
        }

    async def permission(self, request: PermissionRequest) -> Decision:
        """Show the whole call and ask."""
        async with self._keyboard.turn:
            # An ask rule outranks every allow rule, so "always" would change nothing (P24).
            once = request.suppress_always_allow_rule or request.matched_ask_rule
            always = () if once else request.suggestions
            self._show_call(request, always)
            try:
                return await self._decide(request, bool(always))
            except Interrupted:
                self._leave_if_single_turn()
                return Deny(INTERRUPTED, interrupt=True)

    def _show_call(self, request: PermissionRequest, always: tuple[PermissionUpdate, ...]) -> None:
        self._screen.end_text()
        style = self._style
        self._say(style.ask(f"? {plain(request.tool_name)} wants to run"))
        edit = edit_lines(request.tool_name, request.input, style, self._folder)
        lines = plain(whole_input(request.input)).split("\n") if edit is None else edit
        self._say("\n".join(f"  │ {line}" for line in lines))
        if request.reason:
            self._say(style.dim(f"  because: {plain(request.reason)}"))
        if request.matched_ask_rule:
            self._say(style.dim(f"  rule: {plain(describe_ask_rule(request.matched_ask_rule))}"))
        for update in always:
            self._say(style.dim(f"  always: {plain(describe_update(update))}"))

    async def _decide(self, request: PermissionRequest, always: bool) -> Decision:
        keys = ["y", *(["a"] if always else []), "n", "s"]
        labels = ["[y]es", *(["[a]lways"] if always else [])]
        labels += ["[N]o (default)" if request.default_to_no else "[n]o", "[s]top"]
        prompt = self._style.ask(f"  {', '.join(labels)}; `n` may give a reason > ")
        while True:
            typed = await self._keyboard.read(prompt)
            if typed is None:
                return Deny("The user said no.")
            answer = typed.strip().lower()
            if answer in ("y", "yes"):
                return Allow()
            if answer in ("a", "always") and always:
                return Allow.always(request)
            if answer in ("s", "stop"):
                return Deny("The user wants to stop here.", interrupt=True)
            denial = NO.fullmatch(typed.strip())
            if denial or (not answer and request.default_to_no):
                return Deny(_denial(denial["reason"] if denial else None))
            allowed_keys = f"{', '.join(keys[:-1])} or {keys[-1]}"
            self._say(self._style.dim(f"  please type {allowed_keys}"))

    async def question(self, request: QuestionRequest) -> Answers | Deny:
        """Show the questions one after the other and collect the answers."""
        async with self._keyboard.turn:
            self._screen.end_text()
            answers: dict[str, str] = {}
            try:
                for question in request.questions:
                    answer = await self._ask(question)
                    if answer:
                        answers[question.text] = answer
            except Interrupted:
                self._leave_if_single_turn()
                return Deny(INTERRUPTED, interrupt=True)
            return Answers(answers)

    async def _ask(self, question: Question) -> str:
        self._show_question(question)
        hint = "your own words"
        if question.choices:
            numbers = "numbers with commas" if question.multi_select else "a number"
            hint = f"{numbers}, or your own words"
        while True:
            typed = await self._keyboard.read(self._style.ask(f"  {hint} > "))
            try:
                return _parse_answer(question, (typed or "").strip())
            except Misfit as problem:
                self._say(self._style.dim(f"  {problem}"))

    async def plan(self, request: PlanRequest) -> PlanReply:
        """Show the plan and ask."""
        async with self._keyboard.turn:
            self._screen.end_text()
            self._say(self._style.ask("? a plan is ready"))
            self._say(_indented(plain(request.plan or "(the CLI did not show its text)")))
            prompt = "  [y]es, yes and accept [e]dits, or say what to change > "
            try:
                return await self._judge_plan(self._style.ask(prompt))
            except Interrupted:
                self._keyboard.interrupt()
                return Reject(INTERRUPTED)

    async def _judge_plan(self, prompt: str) -> PlanReply:
        while True:
            typed = await self._keyboard.read(prompt)
            answer = (typed or "").strip()
            if answer.lower() in ("y", "yes"):
                return Approve()
            if answer.lower() in ("e", "edits"):
                return Approve(accept_edits=True)
            if answer or typed is None:
                denial = NO.fullmatch(answer)
                reason = (denial["reason"] or "").strip() if denial else answer
                return Reject(reason or "The user wants another plan.")
            self._say(self._style.dim("  please type y or e, or say what to change"))

    async def elicitation(self, request: ElicitationRequest) -> Accept | Decline | Cancel:
        """Show an MCP server's form or link, and ask for each field."""
        async with self._keyboard.turn:
            self._screen.end_text()
            self._say(self._style.ask(f"? the MCP server {plain(request.server)} asks"))
            self._say(_indented(plain(request.message or request.title or "")))
            try:
                if request.mode == "url":
                    return await self._link(request.url or "")
                return await self._form(fields_of(request.schema))
            except Interrupted:
                self._keyboard.interrupt()
                return Cancel()

    async def _link(self, url: str) -> Accept | Decline | Cancel:
        self._say(f"  open {self._style.accent(plain(url))}")
        return await self._verdict("[y] it is done", None)

    async def _form(self, fields: list[Field]) -> Accept | Decline | Cancel:
        self._say(self._style.dim("  /decline or /cancel in place of an answer ends the form"))
        content: dict[str, Any] = {}
        for field in fields:
            reply = await self._fill(field, content)
            if reply is not None:
                return reply
        self._say(_indented(plain(json.dumps(content, indent=2, ensure_ascii=False))))
        return await self._verdict("[y] send", content)

    async def _fill(self, field: Field, content: dict[str, Any]) -> Decline | Cancel | None:
        """Ask for one field until the typed value is valid."""
        description = self._style.dim(f"  {plain(field.description)}") if field.description else ""
        self._say(f"  {plain(field.title)}{'' if field.required else ' (optional)'}{description}")
        for number, (_, label) in enumerate(field.choices, 1):
            self._say(f"    {number}. {plain(label)}")
        while True:
            typed = await self._keyboard.read(self._style.ask(f"  {plain(field.hint)} > "))
            command = "/cancel" if typed is None else typed.strip().lower()
            if command in ("/decline", "/cancel"):
                return Decline() if command == "/decline" else Cancel()
            try:
                value = field.parse(typed or "")
            except Misfit as problem:
                self._say(self._style.dim(f"  {problem}"))
                continue
            if value is not None:
                content[field.name] = value
            return None

    async def _verdict(self, yes: str, content: dict[str, Any] | None) -> Accept | Decline | Cancel:
        while True:
            typed = await self._keyboard.read(self._style.ask(f"  {yes}, [d]ecline, [c]ancel > "))
            answer = "c" if typed is None else typed.strip().lower()
            if answer in ("y", "yes"):
                return Accept(content)
            if answer in ("d", "decline", "/decline", "n", "no"):
                return Decline()
            if answer in ("c", "cancel", "/cancel"):
                return Cancel()
            self._say(self._style.dim("  please type y, d or c"))

    def _leave_if_single_turn(self) -> None:
        """The answer stops the turn; a program with a single turn ends as well."""
        if not self._keyboard.handles_interrupts:
            self._keyboard.leave()

    def _show_question(self, question: Question) -> None:
        self._say(self._style.ask(f"? {plain(question.text)}"))
        for number, choice in enumerate(question.choices, 1):
            description = (
                self._style.dim(f"  {plain(choice.description)}") if choice.description else ""
            )
            self._say(f"  {number}. {plain(choice.label)}{description}")

    def _say(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def whole_input(tool_input: Mapping[str, Any]) -> str:
    """A tool's whole input: a command as text, anything else as JSON."""
    if set(tool_input) <= {"command", "description"} and isinstance(tool_input.get("command"), str):
        return str(tool_input["command"])
    return json.dumps(dict(tool_input), indent=2, ensure_ascii=False)


def describe_ask_rule(rule: Mapping[str, Any]) -> str:
    """The user's ask rule behind a request, as text for the user."""
    content = rule.get("rule_content")
    name = str(rule.get("tool_name", ""))
    shown = f"{name}({content})" if content else name
    return f"{shown} asks every time ({rule.get('source') or 'unknown source'})"


def describe_update(update: PermissionUpdate) -> str:
    """A suggested change of the rules, as text for the user."""
    plain_update = msgspec.to_builtins(update)
    destination = plain_update.get("destination", "session")
    rules = getattr(update, "rules", None)
    if rules:
        return (
            f"{plain_update['behavior']} {', '.join(str(rule) for rule in rules)} ({destination})"
        )
    if "directories" in plain_update:
        return f"work in {', '.join(plain_update['directories'])} ({destination})"
    if "mode" in plain_update:
        target = "this session" if destination == "session" else f"the {destination}"
        return f"switch {target} to {plain_update['mode']}"
    return json.dumps(plain_update)


def _denial(reason: str | None) -> str:
    text = (reason or "").strip()
    return f"The user said no: {text}" if text else "The user said no."


def _parse_answer(question: Question, typed: str) -> str:
    """The answer as text; raises `Misfit` for a number that is not a choice."""
    parts = [part.strip() for part in typed.split(",")] if question.multi_select else [typed]
    labels = []
    for part in parts:
        if question.choices and re.fullmatch(r"[+-]?[0-9]+", part):
            if not 1 <= int(part) <= len(question.choices):
                raise Misfit(f"there is no {part}; choose 1 to {len(question.choices)}")
            labels.append(question.choices[int(part) - 1].label)
        elif part:
            labels.append(part)
    return ", ".join(labels)


def _indented(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.split("\n"))
