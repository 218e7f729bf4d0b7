"""Questions in a terminal: only an answer to what was read counts, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.pty_program import Terminal, in_terminal
from tests.forked_programs import program
from tests.launching import python_launcher

PROGRAM = Path(__file__).with_name("asking.py")

Agent = Callable[..., list[str]]
"""Requests -> the arguments that choose a CLI which makes them."""

BASH: dict[str, Any] = {
    "subtype": "can_use_tool",
    "tool_name": "Bash",
    "input": {"command": "touch made"},
    "tool_use_id": "t",
    "permission_suggestions": [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    ],
}
QUESTION: dict[str, Any] = {
    "subtype": "can_use_tool",
    "tool_name": "AskUserQuestion",
    "tool_use_id": "t",
    "input": {
        "questions": [
            {"question": "Which?", "options": [{"label": "Blue"}, {"label": "Red"}]},
        ]
    },
}
PLAN: dict[str, Any] = {
    "subtype": "can_use_tool",
    "tool_name": "ExitPlanMode",
    "tool_use_id": "t",
    "input": {"plan": "Do it."},
}
FORM: dict[str, Any] = {
    "subtype": "elicitation",
    "mcp_server_name": "tracker",
    "message": "Who are you?",
    "requested_schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 18},
            "size": {"type": "string", "enum": ["s", "m"], "enumNames": ["small", "medium"]},
            "news": {"type": "boolean", "default": False},
            "note": {"type": "string"},
        },
        "required": ["name", "age", "size"],
    },
}


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    def make(*requests: dict[str, Any]) -> list[str]:
        program = python_launcher(tmp_path / "claude", PROGRAM, json.dumps(requests))
        return ["--agent", str(program), "--cwd", str(tmp_path)]

    return make


def answer(terminal: Terminal, prompt: str, keys: str) -> None:
    """Type when the prompt was drawn for the second time: from then on an answer counts."""
    terminal.wait_for(prompt)
    terminal.wait_for(prompt)
    terminal.type(keys)


def prompt(terminal: Terminal, words: str) -> None:
    terminal.wait_for("› ")
    terminal.type(f"{words}\r")


def response(terminal: Terminal) -> Any:
    """What the program sent back, as the CLI shows it."""
    terminal.wait_for("\n{")
    return json.loads("{" + terminal.wait_for("}\n"))


MAY = "reason > "


class TestTypedAhead:
    @pytest.mark.parametrize("command", [["run", "go"], ["chat"]])
    def test_a_key_from_before_the_question_does_not_approve(
        self, command: list[str], agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal(*command, *agent(BASH), folder=tmp_path) as terminal:
            if command == ["chat"]:
                prompt(terminal, "go")
            terminal.type("y\r")
            terminal.wait_for(MAY)
            terminal.type("y\ry\r")
            terminal.wait_for("ignored what was typed before the question could be read")
            terminal.wait_for(MAY)
            terminal.type("n not that\r")
            denied = response(terminal)
        assert denied["behavior"] == "deny"
        assert denied["message"] == "The user said no: not that"

    @pytest.mark.parametrize(
        ("request_", "drawn", "early", "late", "intended"),
        [
            (QUESTION, "own words > ", "1\r", "2\r", '"Which?": "Red"'),
            (PLAN, "what to change > ", "y\r", "smaller\r", '"message": "smaller"'),
            (FORM, "text > ", "/cancel\r", "/decline\r", '"action": "decline"'),
        ],
        ids=["question", "plan", "form"],
    )
    def test_other_questions_are_guarded_as_well(
        self,
        request_: dict[str, Any],
        drawn: str,
        early: str,
        late: str,
        intended: str,
        agent: Agent,
        tmp_path: Path,
    ) -> None:
        with in_terminal("chat", *agent(request_), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            terminal.wait_for(drawn)
            terminal.type(early)
            terminal.wait_for("ignored what was typed")
            terminal.wait_for(drawn)
            terminal.type(late)
            terminal.wait_for(intended)

    def test_a_script_answers_through_a_pipe(self, agent: Agent, tmp_path: Path) -> None:
        completed = subprocess.run(
            [*program("fairlead.commands.main"), "chat", *agent(BASH)],
            input="go\ny\nand then\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert '"behavior": "allow"' in completed.stdout
        assert "and then" in completed.stdout
        assert completed.returncode == 0, completed.stderr


class TestPermission:
    def test_enter_alone_is_no_answer(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(BASH), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, MAY, "\r")
            terminal.wait_for("please type y, a, n or s")
            answer(terminal, MAY, "a\r")
            allowed = response(terminal)
        assert allowed["behavior"] == "allow"
        assert allowed["updatedPermissions"][0]["mode"] == "acceptEdits"

    def test_the_cli_can_ask_for_no_as_the_default(self, agent: Agent, tmp_path: Path) -> None:
        careful = {**BASH, "default_to_no": True}
        with in_terminal("chat", *agent(careful), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            terminal.wait_for("[N]o (default)")
            answer(terminal, MAY, "\r")
            assert response(terminal)["behavior"] == "deny"

    def test_the_cli_can_suppress_always(self, agent: Agent, tmp_path: Path) -> None:
        once = {**BASH, "suppress_always_allow_rule": True}
        with in_terminal("chat", *agent(once), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, MAY, "a\r")
            terminal.wait_for("please type y, n or s")
            answer(terminal, MAY, "y\r")
            allowed = response(terminal)
            assert "lways" not in terminal.shown
        assert allowed["behavior"] == "allow"
        assert "updatedPermissions" not in allowed

    def test_a_rule_that_asks_is_named_and_always_is_not_offered(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        rule = {"source": "projectSettings", "tool_name": "Bash", "rule_content": "touch *"}
        with in_terminal(
            "chat", *agent({**BASH, "matched_ask_rule": rule}), folder=tmp_path
        ) as terminal:
            prompt(terminal, "go")
            terminal.wait_for("rule: Bash(touch *) asks every time (projectSettings)")
            answer(terminal, MAY, "a\r")
            terminal.wait_for("please type y, n or s")
            answer(terminal, MAY, "n\r")
            assert response(terminal)["behavior"] == "deny"
            assert "lways" not in terminal.shown

    def test_an_edit_is_a_colored_diff(self, agent: Agent, tmp_path: Path) -> None:
        value = {"file_path": "a.py", "old_string": "one\ntwo", "new_string": "one\n\x1b[2Jthree"}
        edit = {**BASH, "tool_name": "Edit", "input": {**value, "replace_all": True}}
        with in_terminal("chat", *agent(edit), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, MAY, "y\r")
            assert response(terminal)["updatedInput"] == edit["input"]
        assert "│  one\n" in terminal.shown
        assert "│ \x1b[31m-two\x1b[0m" in terminal.raw
        assert "│ \x1b[32m+‹1B›[2Jthree\x1b[0m" in terminal.raw
        assert '{"replace_all": true}' in terminal.shown


class TestControlC:
    def test_at_a_question_denies_and_takes_nothing_of_what_comes_next(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal("chat", *agent(BASH), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, MAY, "\x03")
            denied = response(terminal)
            prompt(terminal, "/cost")
            assert "/cost" in terminal.wait_for("heard: ") + terminal.wait_for("\n")
        assert (denied["behavior"], denied["interrupt"]) == ("deny", True)

    def test_in_the_half_second_after_a_question_denies(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(BASH), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            terminal.wait_for(MAY)
            terminal.type("\x03")
            assert response(terminal)["behavior"] == "deny"

    def test_at_a_question_of_a_single_prompt_leaves(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("run", "go", *agent(BASH), folder=tmp_path) as terminal:
            answer(terminal, MAY, "\x03")
            assert terminal.wait_for_end() == 130
        assert "Traceback" not in terminal.shown

    def test_at_the_prompt_clears_the_line_and_a_second_one_leaves(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal("chat", *agent(), folder=tmp_path) as terminal:
            terminal.wait_for("› ")
            terminal.type("half a li\x03")
            terminal.wait_for("Ctrl-C again leaves")
            prompt(terminal, "whole")
            assert terminal.wait_for("heard: ") + terminal.wait_for('"whole"')
            terminal.wait_for("› ")
            terminal.type("\x03")
            terminal.wait_for("Ctrl-C again leaves")
            terminal.wait_for("› ")
            terminal.type("\x03")
            assert terminal.wait_for_end() == 130
        assert "Traceback" not in terminal.shown

    def test_stops_a_turn_and_the_chat_goes_on(self, tmp_path: Path) -> None:
        from fairlead.emulator.process.launcher import write_launcher

        script = tmp_path / "script.yaml"
        script.write_text(
            "- when: slow\n  steps: [{say: Wait.}, {wait: 600}, {say: Done.}]\n"
            "- when: next\n  steps: [{say: Here I am.}]\n"
        )
        claude = write_launcher(tmp_path / "claude", {"FAIRLEAD_SCRIPT": str(script)})
        flags = ("--agent", str(claude), "--cwd", str(tmp_path))
        with in_terminal("chat", *flags, folder=tmp_path) as terminal:
            prompt(terminal, "slow")
            terminal.wait_for("Wait.")
            terminal.type("\x03")
            terminal.wait_for("stopping; Ctrl-C again leaves")
            prompt(terminal, "next")
            terminal.wait_for("Here I am.")
        assert "ede_diagnostic" not in terminal.shown

    def test_a_withdrawn_question_takes_nothing_of_what_comes_next(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        request = {"withdraw": BASH, "at": str(pipe)}
        with in_terminal("chat", *agent(request), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, MAY, "ye")
            pipe.write_text("now")
            terminal.wait_for("it was withdrawn")
            prompt(terminal, "what now")
            terminal.wait_for('heard: "what now"')


class TestPrompt:
    @pytest.mark.parametrize("text", ["/exit", "/quit", " /exit "])
    def test_commands_that_quit_are_not_sent(self, text: str, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(), folder=tmp_path) as terminal:
            prompt(terminal, text)
            assert terminal.wait_for_end() == 0
        assert "heard" not in terminal.shown

    def test_control_d_leaves(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(), folder=tmp_path) as terminal:
            terminal.wait_for("› ")
            terminal.type("\x04")
            assert terminal.wait_for_end() == 0

    def test_a_line_can_be_edited(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(), folder=tmp_path) as terminal:
            prompt(terminal, "wörlds\x1b[D\x7f\x01hello \x05!")
            terminal.wait_for('heard: "hello w\\u00f6rls!"')

    def test_the_history_outlives_the_chat_and_is_private(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        flags = agent()
        env = {"XDG_STATE_HOME": str(tmp_path / "state")}
        with in_terminal("chat", *flags, folder=tmp_path, env=env) as terminal:
            prompt(terminal, "remember me")
            terminal.wait_for("heard: ")
            prompt(terminal, "/exit")
            terminal.wait_for_end()
        stored = tmp_path / "state" / "fairlead" / "chat_history"
        assert stored.stat().st_mode & 0o777 == 0o600
        assert stored.parent.stat().st_mode & 0o777 == 0o700
        with in_terminal("chat", *flags, folder=tmp_path, env=env) as terminal:
            prompt(terminal, "\x1b[A\x1b[A, too")
            terminal.wait_for('heard: "remember me, too"')

    def test_answers_are_not_kept(self, agent: Agent, tmp_path: Path) -> None:
        with in_terminal("chat", *agent(QUESTION), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, "own words > ", "something private\r")
            terminal.wait_for("\n{")
            terminal.wait_for("› ")
            terminal.type("\x04")
            terminal.wait_for_end()
        stored = tmp_path / ".local" / "state" / "fairlead" / "chat_history"
        assert stored.read_text() == "go\n"


class TestQuestion:
    @pytest.mark.parametrize("wrong", ["7", "0", "-1", "3"])
    def test_a_number_that_is_not_offered_is_asked_again(
        self, wrong: str, agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal("chat", *agent(QUESTION), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, "own words > ", f"{wrong}\r")
            terminal.wait_for(f"there is no {wrong}; choose 1 to 2")
            answer(terminal, "own words > ", "1\r")
            terminal.wait_for('"Which?": "Blue"')

    def test_one_of_several_numbers_that_is_not_offered_is_asked_again(
        self, agent: Agent, tmp_path: Path
    ) -> None:
        request = json.loads(json.dumps(QUESTION))
        request["input"]["questions"][0]["multiSelect"] = True
        with in_terminal("chat", *agent(request), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, "own words > ", "1,7\r")
            terminal.wait_for("there is no 7")
            answer(terminal, "own words > ", "1, 2, and green\r")
            terminal.wait_for('"Which?": "Blue, Red, and green"')


class TestForm:
    @pytest.mark.parametrize("command", [["run", "go"], ["chat"]])
    def test_each_field_is_asked_until_it_fits(
        self, command: list[str], agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal(*command, *agent(FORM), folder=tmp_path) as terminal:
            if command == ["chat"]:
                prompt(terminal, "go")
            terminal.wait_for("Who are you?")
            answer(terminal, "text > ", "\r")
            terminal.wait_for("this field is required")
            answer(terminal, "text > ", "x\r")
            terminal.wait_for("at least 2 characters")
            answer(terminal, "text > ", "Ada\r")
            answer(terminal, "a whole number > ", "young\r")
            terminal.wait_for("type a whole number")
            answer(terminal, "a whole number > ", "17\r")
            terminal.wait_for("not less than 18")
            answer(terminal, "a whole number > ", "36\r")
            terminal.wait_for("2. medium")
            answer(terminal, "a number > ", "3\r")
            terminal.wait_for("choose 1 to 2")
            answer(terminal, "a number > ", "2\r")
            answer(terminal, "Enter: false > ", "perhaps\r")
            terminal.wait_for("type yes or no")
            answer(terminal, "Enter: false > ", "yes\r")
            answer(terminal, "Enter leaves it out > ", "\r")
            answer(terminal, "[c]ancel > ", "y\r")
            terminal.wait_for(
                '{"action": "accept", "content": '
                '{"age": 36, "name": "Ada", "news": true, "size": "m"}}'
            )

    @pytest.mark.parametrize("text", ["decline", "cancel"])
    def test_a_form_can_be_declined_and_cancelled(
        self, text: str, agent: Agent, tmp_path: Path
    ) -> None:
        with in_terminal("chat", *agent(FORM), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            answer(terminal, "text > ", f"/{text}\r")
            terminal.wait_for(f'{{"action": "{text}"}}')

    def test_a_link_is_shown_and_confirmed(self, agent: Agent, tmp_path: Path) -> None:
        link = {**FORM, "mode": "url", "url": "https://example.org/\x1b[2Jlogin"}
        with in_terminal("chat", *agent(link), folder=tmp_path) as terminal:
            prompt(terminal, "go")
            terminal.wait_for("https://example.org/‹1B›[2Jlogin")
            answer(terminal, "[c]ancel > ", "y\r")
            terminal.wait_for('"action": "accept"')
