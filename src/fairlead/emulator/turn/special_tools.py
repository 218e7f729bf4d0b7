"""Tools that only use the state of the session: questions, plans, skills, structured output,
stopping.

The other tools are in `tools`. Texts follow the version (CLI-407).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.output_schema import misfits
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.tools.outcome import Outcome, failed, unusable
from fairlead.emulator.turn.ending import TurnFigures
from fairlead.emulator.turn.parts import SpecialTool, TurnParts
from fairlead.emulator.turn.subagents import Subagents
from fairlead.emulator.turn.use import Use

__all__ = ["special_tools"]


def special_tools(parts: TurnParts) -> dict[str, SpecialTool]:
    """Name -> the function that runs the tool."""
    subagents = Subagents(parts)
    conversation = _Talk(parts)
    return {
        "Task": subagents.use,
        "Agent": subagents.use,
        "AskUserQuestion": conversation.ask,
        "EnterPlanMode": conversation.enter_plan,
        "ExitPlanMode": conversation.exit_plan,
        "Skill": conversation.skill,
        "StructuredOutput": conversation.structured_output,
        "TaskStop": conversation.stop_task,
        "KillShell": conversation.stop_task,
        "ToolSearch": conversation.search_tools,
        "ListMcpResourcesTool": lambda use, conversation, figures: parts.resources.list_all(
            use.input
        ),
        "ReadMcpResourceTool": lambda use, conversation, figures: parts.resources.read(use.input),
    }


class _Talk:
    def __init__(self, parts: TurnParts) -> None:
        self._parts = parts

    async def ask(self, use: Use, conversation: Conversation, figures: TurnFigures) -> Outcome:
        profile = self._parts.session.profile
        questions = use.input.get("questions")
        if profile.questions_are_required and not isinstance(questions, list):
            problem = "required parameter questions is missing"
            outcome = failed(f"updatedInput failed schema validation: {problem}")
            return structs.replace(outcome, rejects_update=profile.rejects_invalid_updates)
        answers = use.input.get("answers")
        answers = answers if isinstance(answers, dict) else {}
        notes = use.input.get("annotations")
        result: dict[str, Any] = {"questions": questions} if questions is not None else {}
        result["answers"] = answers
        if profile.returns_annotations and notes:
            result["annotations"] = notes
        question_texts = [str(q.get("question")) for q in questions or () if isinstance(q, dict)]
        text = _answered(answers, notes, question_texts, questions or (), profile=profile)
        return Outcome(content=text, result=result)

    async def enter_plan(
        self, use: Use, conversation: Conversation, figures: TurnFigures
    ) -> Outcome:
        session = self._parts.session
        session.mode_before_plan = session.mode
        session.mode = "plan"
        self._parts.output.mode_changed()
        text = "Entered plan mode. Explore and design, then call ExitPlanMode with the plan."
        return Outcome(content=text, result={"message": text})

    async def exit_plan(
        self, use: Use, conversation: Conversation, figures: TurnFigures
    ) -> Outcome:
        session = self._parts.session
        if session.mode == "plan":
            before = session.mode_before_plan
            session.mode = before if before != "plan" else "default"
            self._parts.output.mode_changed()
        default = f"{session.workspace.config}/plans/{session.session_id[:8]}.md"
        path = session.plan_file or default
        result = {"plan": None, "isAgent": False, "filePath": path}
        return Outcome(
            content="User has approved exiting plan mode. You can now proceed.", result=result
        )

    async def skill(self, use: Use, conversation: Conversation, figures: TurnFigures) -> Outcome:
        name = str(use.input.get("skill", ""))
        session = self._parts.session
        if name in session.custom_commands:
            text = session.custom_commands[name]
            conversation.note(text)
            granted = session.custom_grants.get(name, ())
            self._parts.permissions.grant(granted)
            result: dict[str, Any] = {"success": True, "commandName": name}
            if granted:
                result["allowedTools"] = list(granted)
            content = f"Launching skill: {name}"
            return Outcome(content=content, result=result, followed_by=text)
        if name in session.profile.catalog.skills:
            return unusable(
                f"Skill {name} cannot be used with Skill tool due to disable-model-invocation"
            )
        return unusable(f"Unknown skill: {name}")

    async def structured_output(
        self, use: Use, conversation: Conversation, figures: TurnFigures
    ) -> Outcome:
        session = self._parts.session
        profile = session.profile
        problem = misfits(dict(use.input), session.structured_schema, profile)
        if problem:
            return failed(f"Output does not match required schema: {problem}")
        figures.structured_output = dict(use.input)
        figures.has_structured_output = session.has_structured_output = True
        text = "Structured output provided successfully"
        return Outcome(content=text, result=text)

    async def stop_task(
        self, use: Use, conversation: Conversation, figures: TurnFigures
    ) -> Outcome:
        task_id = use.task_id
        if not self._parts.tasks.stop(task_id):
            return failed(f"No task found with ID: {task_id}")
        text = f"Successfully stopped task: {task_id}"
        return Outcome(content=text, result={"message": text, "task_id": task_id})

    async def search_tools(
        self, use: Use, conversation: Conversation, figures: TurnFigures
    ) -> Outcome:
        queried = str(use.input.get("query", "")).removeprefix("select:").split(",")
        names = [name for name in self._parts.session.tools if name in queried]
        return Outcome(content="\n".join(names) or "No matching tools", result={"matches": names})


def _answered(
    answers: Mapping[str, Any],
    notes: Any,
    question_texts: list[str],
    questions: Any,
    *,
    profile: Profile,
) -> str:
    report = {
        q: a
        for q, a in answers.items()
        if not profile.ignores_unasked_answers or q in question_texts
    }
    notes = notes if isinstance(notes, dict) else {}
    pairs = []
    for question, answer in report.items():
        answer_text = ",".join(map(str, answer)) if isinstance(answer, list) else str(answer)
        note = notes.get(question)
        extra = (
            f" notes: {note['notes']}"
            if profile.returns_annotations and note and note.get("notes")
            else ""
        )
        pairs.append(f'"{question}"="{answer_text}"{extra}')
    text = ", ".join(pairs)
    if not profile.adapts_answer_text:
        return (
            f"User has answered your questions: {text}. "
            "You can now continue with the user's answers in mind."
        )
    if not report:
        return "The user did not answer the questions."
    if notes or not _all_offered(report, questions):
        return f"The user answered: {text}. Read the answers carefully and follow them."
    return f"Your questions have been answered: {text}. You can now continue with them in mind."


def _all_offered(report: Mapping[str, Any], questions: Any) -> bool:
    offered = {
        str(q.get("question")): {str(o.get("label")) for o in q.get("options") or ()}
        for q in questions
        if isinstance(q, dict)
    }
    for question, answer in report.items():
        selected = answer if isinstance(answer, list) else str(answer).split(", ")
        if not set(map(str, selected)) <= offered.get(question, set()):
            return False
    return True
