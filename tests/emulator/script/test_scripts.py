"""Scripts with mistakes, unexpected prompts and interrupts."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fairlead.emulator.process.launcher import write_launcher
from fairlead.emulator.script import schema
from fairlead.emulator.script.scenario import load_text
from fairlead.emulator.script.scratch_project import make_scratch_project
from fairlead.errors import UsageError
from fairlead.testing.emulated import PROTOCOL_FLAGS, EmulatedClaude
from fairlead.testing.expectations import assert_said

VERSIONS = ("2.1.38", "2.1.325")
WAIT_S = 60.0
ROOT = Path(__file__).parents[3]

MISTAKES = [
    ("- when: /(/\n  steps: []", 1, 9, "not a regular expression"),
    ("- when: [a]\n  steps: []", 1, 9, "`when` takes words"),
    ("- when:\n  steps: []", 1, 8, "leave `when` out"),
    ("- when: a\n  steps: [{wait: soon}]", 2, 18, "`wait` takes a number, not 'soon'"),
    ("- steps: [{wait: -1}]", 1, 18, "0 or more"),
    ("- steps: [{wait: .nan}]", 1, 18, "`wait` takes a number"),
    ("- steps:\n    - fail: overloaded", 2, 13, "an HTTP status, not 'overloaded'"),
    ("- steps:\n    - fail: {status: 400}", 2, 13, "`message` and `retry_after` are separate keys"),
    ("- steps: [{fail: 200}]", 1, 18, "from 400 to 599"),
    ("- steps: [{fail: 529, retry_after: soon}]", 1, 36, "`retry_after` takes a number"),
    ("- steps: [{fail: 529, retry: maybe}]", 1, 30, "true or false"),
    ("- steps:\n    - spawn: look", 2, 14, "a task is a mapping, not 'look'"),
    ("- steps: [{spawn: {description: d}}]", 1, 19, "a task needs `prompt`"),
    ("- steps: [{spawn: {prompt: p, promt: q}}]", 1, 31, "Did you mean `prompt`?"),
    ("- steps: [{ask: 'Which?'}]", 1, 17, "a question is a mapping"),
    ("- steps: [{ask: []}]", 1, 17, "`ask` is empty"),
    ("- steps: [{ask: {question: q, options: a}}]", 1, 40, "`options` takes a list"),
    ("- steps: [{ask: {question: q}}]", 1, 17, "a question needs `options`"),
    ("- steps: [{use: Bahs}]", 1, 17, "Did you mean Bash?"),
    ("- steps: [{use: bash}]", 1, 17, "Did you mean Bash?"),
    ("- steps: [{use: [Bash]}]", 1, 17, "`use` takes text"),
    ("- steps: [{use: Bash, input: ls}]", 1, 30, "`input` takes a mapping"),
    ("- steps: [{use: Bash, input: {command: 2024-01-01}}]", 1, 40, "Put it in quotes"),
    ("- steps: [{use: Bash, as: my-tests}]", 1, 27, "letters, digits and `_`"),
    ("- steps: [{say: yes}]", 1, 17, "`say` takes text, not True. Put it in quotes"),
    ("- steps: [{say: [a]}]", 1, 17, "`say` takes text"),
    ("- steps: [{say: a, as: b}]", 1, 20, "a step `say` has no as"),
    ("- steps: [{say: a, think: b}]", 1, 11, "Make them two steps"),
    ("- steps: [{syy: a}]", 1, 11, "Did you mean `say`?"),
    ("- steps: [7]", 1, 11, "a step is one of"),
    ("- steps: {say: a}", 1, 10, "`steps` takes a list"),
    ("- steps: []\n  wen: x", 2, 3, "a scene has no wen. Did you mean `when`?"),
    ("- when: x", 1, 3, "a scene needs `steps`"),
    ("- say: hello", 1, 3, "a scene needs `steps`"),
    ("- steps: [{together: [{wait: 1}]}]", 1, 23, "`together` takes"),
    ("- steps: [{together: {use: Bash}}]", 1, 22, "`together` takes a list"),
    ("scenes: []\nqeue: []", 2, 1, "Did you mean `queue`?"),
    ("scenes: []\nunmatched: ignore", 2, 12, "error or done"),
    ("scenes: []\npace: fast", 2, 7, "`pace` takes a number"),
    ("scenes: []\npiece: 0", 2, 8, "1 or more"),
    ("queue: [{}]", 1, 9, "either `blocks` or `error`"),
    ("queue: [{blocks: [{type: picture}]}]", 1, 19, "a block has a `type`"),
    ("queue: [{blocks: [{type: tool_use, name: x}]}]", 1, 19, "needs `input`"),
    ("queue: [{error: 529, waits: [{before: 0, second: 1}]}]", 1, 42, "`seconds`"),
    ("queue: [{blocks: [], usage: {tokens: 1}}]", 1, 30, "`usage` has no tokens"),
    ("- steps: [{say: a}\n", 2, 1, "not YAML"),
    ("- steps: []\n  steps: []", 2, 3, "occurs twice"),
    ("- steps: [{say: '{{nope.text}}'}]", 1, 17, "no earlier step is named `nope`"),
    ("- steps: [{use: Bash, as: a}, {say: '{{a.txt}}'}]", 1, 37, "a.text, a.ok"),
    ("- steps: [{say: '{{a.text}}'}, {use: Bash, as: a}]", 1, 17, "no earlier step"),
    ("- steps: [{use: Bash, as: a}]\n- steps: [{say: '{{a.text}}'}]", 2, 17, "no earlier step"),
    ("- steps: [{use: Write, input: {content: ['{{x}}']}}]", 1, 42, "no earlier step"),
    ("- steps: [{use: Bash, as: a}, {say: b, if: a.fialed}]", 1, 44, "ok, failed, denied"),
    ("- steps: [{use: Bash, as: a}, {say: b, if: a}]", 1, 44, "ok, failed, denied"),
    ("- steps: [{use: Bash, as: a}, {say: b, unless: b.ok}]", 1, 48, "no earlier step"),
    ("- steps: [{spawn: {prompt: p}, steps: [{say: b, if: a.ok}]}]", 1, 53, "no earlier step"),
    ("just words", 1, 1, "a list of scenes"),
]


@pytest.mark.parametrize(("script", "line", "column", "words"), MISTAKES)
def test_E13_a_mistake_is_reported_when_the_script_is_loaded(
    script: str, line: int, column: int, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load_text(script)
    text = str(caught.value)
    assert text.startswith(f"script:{line}:{column}: "), text
    assert words in text
    assert "\n" not in text


@pytest.mark.parametrize("mistake", ["- when: /(/\n  steps: []", "- steps:\n    - spawn: look"])
@pytest.mark.parametrize("name", ["script.yaml", "script.json"])
def test_E13_a_mistake_ends_the_process_and_is_reported_with_its_position(
    name: str, mistake: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    data = {"- when": [{"when": "/(/", "steps": []}]}.get(
        mistake[:6], [{"steps": [{"spawn": "x"}]}]
    )
    path.write_text(json.dumps(data) if name.endswith("json") else mistake)
    launcher = write_launcher(
        tmp_path / "claude", {"HOME": str(tmp_path), "FAIRLEAD_SCRIPT": str(path)}
    )
    done = subprocess.run(
        [str(launcher), *PROTOCOL_FLAGS],
        stdin=subprocess.PIPE,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(rf"fairlead-claude: {re.escape(str(path))}:\d+:\d+: .+\n\Z", done.stderr)


def test_E13_a_script_file_that_is_missing_is_named(tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, "hi")
    (tmp_path / "script.json").unlink()
    done = subprocess.run(
        [str(claude.executable), *PROTOCOL_FLAGS],
        input="", capture_output=True, text=True, cwd=claude.project, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "script.json: the script cannot be read" in done.stderr
    assert "FAIRLEAD_SCRIPT" in done.stderr


def test_a_reference_can_be_escaped(tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, [{"steps": [{"say": "\\{{user.name}} in {{cwd}}"}]}])
    assert_said(claude.run("hi"), f"{{{{user.name}}}} in {claude.project}")


def test_a_condition_inside_together_is_evaluated(tmp_path: Path) -> None:
    script = """
    - steps:
        - {use: Bash, input: {command: "exit 3"}, as: first}
        - together:
            - {use: Bash, input: {command: "touch wrong"}, if: first.ok}
            - {use: Bash, input: {command: "touch right"}, if: first.failed}
    """
    claude = EmulatedClaude(tmp_path, script)
    claude.run("go", flags=["--allowedTools", "Bash"])
    assert [path.name for path in claude.project.iterdir()] == ["right"]


@contextmanager
def conversation(executable: Path, cwd: Path) -> Iterator[Talk]:
    process = subprocess.Popen(
        [str(executable), *PROTOCOL_FLAGS],
        cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        yield Talk(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(WAIT_S) is not None


class Talk:
    """A host that writes lines and reads up to the one it waits for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def prompt(self, text: str) -> None:
        self.write({"type": "user", "message": {"role": "user", "content": text}})

    def until(self, kind: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message["type"] == kind:
                return message
        raise AssertionError(f"no {kind} came")

    def interrupt(self) -> None:
        request = {"subtype": "interrupt"}
        self.write({"type": "control_request", "request_id": "i", "request": request})


INTERRUPTED = """
- when: first
  steps:
    - {use: Bash, input: {command: "touch x"}, as: touched}
    - say: "FIRST GOES ON: {{touched.text}}"
- when: slow
  steps: [{say: A beginning}, {wait: 60}, {say: SLOW GOES ON}]
- when: second
  steps: [{say: "SECOND"}]
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_E24_a_new_prompt_gets_its_own_scene_after_an_interrupt(
    version: str, tmp_path: Path
) -> None:
    claude = EmulatedClaude(tmp_path, INTERRUPTED, version=version)
    with conversation(claude.executable, claude.project) as talk:
        for first, open_line in (
            ("first", "control_request"),
            ("slow", "system"),
            ("first", "control_request"),
        ):
            talk.prompt(first)
            talk.until(open_line)
            talk.interrupt()
            assert talk.until("result")["subtype"] == "error_during_execution"
            talk.prompt("second")
            assert talk.until("result")["result"] == "SECOND"


def test_E24_the_demo_gives_each_prompt_its_own_scene(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    make_scratch_project(project)
    home.mkdir()
    launcher = write_launcher(tmp_path / "claude", {"HOME": str(home), "TMPDIR": str(tmp_path)})
    with conversation(launcher, project) as talk:
        talk.prompt("tests")
        talk.until("control_request")
        talk.interrupt()
        talk.until("result")
        talk.prompt("think")
        assert talk.until("result")["result"] == "That was an example of thinking."


def test_E24_a_prompt_that_joins_a_turn_does_not_change_its_scene(tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, INTERRUPTED)
    with conversation(claude.executable, claude.project) as talk:
        talk.prompt("first")
        asked = talk.until("control_request")
        talk.prompt("second")
        body = {"behavior": "allow", "updatedInput": asked["request"]["input"]}
        response = {"subtype": "success", "request_id": asked["request_id"], "response": body}
        talk.write({"type": "control_response", "response": response})
        assert talk.until("result")["result"].startswith("FIRST GOES ON")


@pytest.mark.parametrize("version", VERSIONS)
def test_E25_a_prompt_without_a_scene_is_an_error_that_names_both(
    version: str, tmp_path: Path
) -> None:
    scenes = [{"when": "deploy", "steps": []}, {"when": "/^x+$/", "steps": []}]
    claude = EmulatedClaude(tmp_path, scenes, version=version)
    (result,) = [line for line in claude.run("dploy it") if line["type"] == "result"]
    assert result["is_error"] is True
    for words in ("'dploy it'", "deploy", "/^x+$/", "script.json", "unmatched: done"):
        assert words in result["result"]


@pytest.mark.parametrize("version", VERSIONS)
def test_E25_a_script_can_let_unmatched_prompts_pass(version: str, tmp_path: Path) -> None:
    for script in (
        {"unmatched": "done", "scenes": [{"when": "deploy", "steps": []}]},
        [{"when": "deploy", "steps": []}, {"steps": []}],
    ):
        claude = EmulatedClaude(tmp_path / str(len(script)), script, version=version)
        (result,) = [line for line in claude.run("other") if line["type"] == "result"]
        assert (result["is_error"], result["result"]) == (False, "Done.")


def test_E25_a_used_up_queue_is_an_error(tmp_path: Path) -> None:
    one = {"queue": [{"blocks": [{"type": "text", "text": "Only this."}]}]}
    claude = EmulatedClaude(tmp_path, one)
    first, second = [m for m in claude.run("a", "b", flags=[]) if m["type"] == "result"][:2] or [
        {}
    ] * 2
    assert first["result"] == "Only this."
    assert second["is_error"] is True
    assert "queue is used up" in second["result"]


def test_E26_an_internal_error_ends_the_process_with_a_traceback(tmp_path: Path) -> None:
    """The session cannot be written, because a file has the name of its folder."""
    claude = EmulatedClaude(tmp_path, "hi")
    (claude.home / ".claude").mkdir()
    (claude.home / ".claude" / "projects").write_text("not a folder")
    process = subprocess.Popen(
        [str(claude.executable), *PROTOCOL_FLAGS],
        cwd=claude.project,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write('{"type":"user","message":{"role":"user","content":"hi"}}\n')
        process.stdin.flush()
        assert process.wait(WAIT_S) == 1
        text = process.stderr.read()
    assert text.startswith("Traceback")
    assert "projects" in text


def test_E26_the_process_ends_with_its_input_although_the_model_does_not_answer(
    tmp_path: Path,
) -> None:
    never = {"blocks": [{"type": "text", "text": "x"}], "waits": [{"before": 0, "forever": True}]}
    claude = EmulatedClaude(tmp_path, {"queue": [never]})
    assert claude.run("hi", timeout=WAIT_S)[-1]["type"] == "result"


@pytest.mark.parametrize("version", VERSIONS)
def test_E27_a_lone_surrogate_passes_through(version: str, tmp_path: Path) -> None:
    script = """
    - steps:
        - {use: Write, input: {file_path: "{{cwd}}/a.txt", content: "{{prompt}}"}}
        - say: "You said {{prompt}}"
    """
    claude = EmulatedClaude(tmp_path, script, version=version)
    flags = ["--replay-user-messages", "--permission-mode", "acceptEdits"]
    lines = claude.run("a\ud800b", flags=flags)
    (result,) = [line for line in lines if line["type"] == "result"]
    assert result["result"] == "You said a\ud800b"
    assert (claude.project / "a.txt").read_text() == "a\ufffdb"
    assert "a\ud800b" in [m["message"]["content"] for m in lines if m.get("isReplay")]


# Documentation


def examples() -> list[str]:
    text = (ROOT / "docs" / "emulator.md").read_text()
    return [code.group(1) for code in re.finditer(r"```yaml\n(.*?)```", text, re.DOTALL)]


def test_every_example_of_the_documentation_plays(tmp_path: Path) -> None:
    """Each prompt that an example names is sent; every prompt matches a scene."""
    assert len(examples()) == 4
    for number, example in enumerate(examples()):
        claude = EmulatedClaude(tmp_path / str(number), example)
        (claude.project / "CHANGELOG.md").write_text("1.0")
        prompts = re.findall(r'when: "?([\w ]+)', example) or ["anything", "anything"]
        flags = ["--allowedTools", "Bash,Read", "--replay-user-messages"]
        for prompt in prompts:
            lines = claude.run(prompt, flags=flags)
            (result,) = [line for line in lines if line["type"] == "result"]
            assert result["is_error"] is (prompt == "broken"), result


def rows(fields: dict[str, schema.Field]) -> list[str]:
    return [
        f"| `{name}`{' (required)' if field.required else ''} | {field.takes} | {field.about} |"
        for name, field in fields.items()
    ]


def tables() -> list[str]:
    """The tables that docs/emulator.md must have, made from the schema."""
    steps = ["| step | takes | other keys | what the model does |", "|---|---|---|---|"]
    for name, action in schema.ACTIONS.items():
        beside = ", ".join(f"`{option}`" for option in action.options)
        steps.append(f"| `{name}` | {action.value.takes} | {beside} | {action.value.about} |")
    matches = ["\n".join(steps)]
    for title, fields in (
        ("other key of a step", schema.OPTIONS),
        ("in a script", schema.SCRIPT),
        ("in a scene", schema.SCENE),
        ("in a question", schema.QUESTION),
        ("in a task", schema.SPAWN),
        ("in a reply", schema.REPLY),
        ("in a pause", schema.WAIT),
    ):
        head = [f"| {title} | takes | meaning |", "|---|---|---|"]
        matches.append("\n".join([*head, *rows(fields)]))
    return matches


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.split("|")[1].strip())
def test_the_documentation_has_every_key_of_the_schema(table: str) -> None:
    assert table in (ROOT / "docs" / "emulator.md").read_text(), f"docs/emulator.md needs\n{table}"


def test_every_option_belongs_to_a_step() -> None:
    beside = {option for action in schema.ACTIONS.values() for option in action.options}
    assert beside == set(schema.OPTIONS)
