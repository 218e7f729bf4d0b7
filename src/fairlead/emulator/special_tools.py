"""Tools that are talk rather than work: questions, plans, skills, structured output, stopping.

They need the engine's state and no file; the others are in `tools`. Texts follow the version
(TRUTH 1.4).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.ending import TurnFigures
from fairlead.emulator.subagents import Subagents
from fairlead.emulator.tool_call import Use
from fairlead.emulator.tools.outcome import Outcome, failed, unusable

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["SpecialTool", "special_tools"]

SpecialTool = Callable[[Use, Conversation, TurnFigures], Awaitable[Outcome]]


def special_tools(engine: Engine) -> dict[str, SpecialTool]:
    """Name -> how it is run."""
    subagents = Subagents(engine)
    talk = _Talk(engine)
    return {
        "Task": subagents.use,
        "Agent": subagents.use,
        "AskUserQuestion": talk.ask,
        "EnterPlanMode": talk.enter_plan,
        "ExitPlanMode": talk.exit_plan,
        "Skill": talk.skill,
        "StructuredOutput": talk.structured_output,
        "TaskStop": talk.stop_task,
        "KillShell": talk.stop_task,
        "ToolSearch": talk.search_tools,
        "ListMcpResourcesTool": engine.resources.list_all,
        "ReadMcpResourceTool": engine.resources.read_one,
    }


class _Talk:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def ask(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        modern = self._engine.session.profile.is_modern
        questions = use.input.get("questions")
        if modern and not isinstance(questions, list):
            return failed(
                "updatedInput failed schema validation: required parameter questions is missing"
            )
        answers = use.input.get("answers")
        answers = answers if isinstance(answers, dict) else {}
        notes = use.input.get("annotations")
        result: dict[str, Any] = {"questions": questions} if questions is not None else {}
        result["answers"] = answers
        if modern and notes:
            result["annotations"] = notes
        asked = [str(q.get("question")) for q in questions or () if isinstance(q, dict)]
        words = _answered(answers, notes, asked, questions or (), modern=modern)
        return Outcome(content=words, result=result)

    async def enter_plan(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        session = self._engine.session
        session.mode_before_plan = session.mode
        session.mode = "plan"
        self._engine.voice.mode_changed()
        text = "Entered plan mode. Explore and design, then call ExitPlanMode with the plan."
        return Outcome(content=text, result={"message": text})

    async def exit_plan(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        session = self._engine.session
        if session.mode == "plan":
            before = session.mode_before_plan
            session.mode = before if before != "plan" else "default"
            self._engine.voice.mode_changed()
        default = f"{session.place.config}/plans/{session.session_id[:8]}.md"
        path = session.plan_file or default
        result = {"plan": None, "isAgent": False, "filePath": path}
        return Outcome(
            content="User has approved exiting plan mode. You can now proceed.", result=result
        )

    async def skill(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        name = str(use.input.get("skill", ""))
        session = self._engine.session
        if name in session.custom_commands:
            talk.note(session.custom_commands[name])
            self._engine.voice.user(
                [{"type": "text", "text": session.custom_commands[name]}], isSynthetic=True
            )
            result = {"success": True, "commandName": name}
            return Outcome(content=f"Launching skill: {name}", result=result)
        if name in session.profile.catalogue.skills:
            return unusable(
                f"Skill {name} cannot be used with Skill tool due to disable-model-invocation"
            )
        return unusable(f"Unknown skill: {name}")

    async def structured_output(
        self, use: Use, talk: Conversation, figures: TurnFigures
    ) -> Outcome:
        figures.structured_output = dict(use.input)
        figures.has_structured_output = True
        return Outcome(content="Structured output provided successfully", result=dict(use.input))

    async def stop_task(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        task_id = str(use.input.get("task_id") or use.input.get("shell_id") or "")
        if not self._engine.tasks.stop(task_id):
            return failed(f"No task found with ID: {task_id}")
        text = f"Successfully stopped task: {task_id}"
        return Outcome(content=text, result={"message": text, "task_id": task_id})

    async def search_tools(self, use: Use, talk: Conversation, figures: TurnFigures) -> Outcome:
        wanted = str(use.input.get("query", "")).removeprefix("select:").split(",")
        found = [name for name in self._engine.session.tools if name in wanted]
        return Outcome(content="\n".join(found) or "No matching tools", result={"matches": found})


def _answered(
    answers: Mapping[str, Any],
    notes: Any,
    asked: list[str],
    questions: Any,
    *,
    modern: bool,
) -> str:
    told = {q: a for q, a in answers.items() if not modern or q in asked}
    notes = notes if isinstance(notes, dict) else {}
    pairs = []
    for question, answer in told.items():
        shown = ",".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        note = notes.get(question)
        extra = f" notes: {note['notes']}" if modern and note and note.get("notes") else ""
        pairs.append(f'"{question}"="{shown}"{extra}')
    text = ", ".join(pairs)
    if not modern:
        return (
            f"User has answered your questions: {text}. "
            "You can now continue with the user's answers in mind."
        )
    if not told:
        return "The user did not answer the questions."
    if notes or not _all_offered(told, questions):
        return f"The user answered: {text}. Read the answers carefully and follow them."
    return f"Your questions have been answered: {text}. You can now continue with them in mind."


def _all_offered(told: Mapping[str, Any], questions: Any) -> bool:
    offered = {
        str(q.get("question")): {str(o.get("label")) for o in q.get("options") or ()}
        for q in questions
        if isinstance(q, dict)
    }
    for question, answer in told.items():
        chosen = answer if isinstance(answer, list) else str(answer).split(", ")
        if not set(map(str, chosen)) <= offered.get(question, set()):
            return False
    return True
