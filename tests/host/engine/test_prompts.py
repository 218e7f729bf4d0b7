"""The queue of prompts within the engine: what is written when, and what ends what."""

from __future__ import annotations

import pytest

from fairlead.errors import UsageError
from fairlead.host.engine.engine import Engine
from fairlead.host.engine.prompts import PromptQueue, PromptState
from tests.host.engine_lines import (
    FIRST,
    INIT,
    RESULT,
    SECOND,
    THIRD,
    costs,
    echo,
    lifecycle,
    line,
    prompt,
    result_of,
    states,
    written,
)


def test_C11_a_prompt_is_held_while_a_turn_runs_and_sent_after_its_result() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    assert [w["uuid"] for w in written(engine)] == [FIRST]
    assert states(engine) == [(FIRST, "held"), (FIRST, "sent"), (SECOND, "held")]
    engine.feed(INIT + line(type="user", isReplay=True, uuid=FIRST) + RESULT)
    assert [w["uuid"] for w in written(engine)] == [SECOND]
    assert states(engine) == [(FIRST, "started"), (FIRST, "done"), (SECOND, "sent")]


def test_C11_a_prompt_can_be_sent_at_once_into_a_running_turn() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    assert [w["uuid"] for w in written(engine)] == [FIRST, SECOND]


def test_C11_a_slash_command_waits_even_if_it_is_to_be_sent_at_once() -> None:
    # CLI-519: while a tool runs, 2.1.38 gives it to the model as plain text.
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND, "/compact"), at_once=True)
    assert engine.send_now(SECOND) is False
    assert [w["uuid"] for w in written(engine)] == [FIRST]
    engine.feed(INIT + RESULT)
    assert [w["uuid"] for w in written(engine)] == [SECOND]


def test_C12_a_result_ends_the_prompts_it_names_and_no_others() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    engine.send(prompt(THIRD), at_once=True)
    engine.take_events()
    engine.feed(line(type="result", subtype="success", user_message_uuids=[FIRST, THIRD]))
    assert states(engine) == [(FIRST, "done"), (THIRD, "done")]
    assert engine.prompts.state(SECOND) is PromptState.SENT


def test_C12_a_result_that_names_nothing_ends_all_that_had_started() -> None:
    # CLI-518: 2.1.38 folds prompts that it gets while a tool runs; one result for all.
    engine = Engine()
    for uuid in (FIRST, SECOND, THIRD):
        engine.send(prompt(uuid), at_once=True)
    echoes = [line(type="user", isReplay=True, uuid=uuid) for uuid in (FIRST, SECOND)]
    engine.feed(INIT + b"".join(echoes) + RESULT)
    assert engine.prompts.state(FIRST) is PromptState.DONE
    assert engine.prompts.state(SECOND) is PromptState.DONE
    assert engine.prompts.state(THIRD) is PromptState.SENT


def test_C12_a_result_that_names_one_of_several_ends_all_that_had_started() -> None:
    # Seen on 2.1.220: merged and folded prompts, of which the result names the last or the first.
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    engine.send(prompt(THIRD), at_once=True)
    engine.feed(lifecycle(FIRST, "started") + lifecycle(SECOND, "started") + INIT)
    engine.feed(line(type="result", subtype="success", user_message_uuid=SECOND))
    ends = [engine.prompts.state(uuid) for uuid in (FIRST, SECOND, THIRD)]
    assert ends == [PromptState.DONE, PromptState.DONE, PromptState.SENT]


def test_C12_of_prompts_that_end_together_the_first_has_the_cost() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    engine.feed(INIT + echo(FIRST) + echo(SECOND) + result_of(total_cost_usd=0.5))
    assert costs(engine) == [(FIRST, 0.5), (SECOND, 0.0)]


def test_C13_the_cost_of_a_turn_without_a_prompt_is_charged_to_no_prompt() -> None:
    engine = Engine()
    engine.feed(INIT + result_of(total_cost_usd=0.5, origin={"kind": "task-notification"}))
    engine.send(prompt(FIRST))
    engine.feed(INIT + echo(FIRST) + result_of(total_cost_usd=0.75))
    assert costs(engine) == [(FIRST, 0.25)]


def test_C13_a_prompt_that_joined_a_turn_without_a_prompt_ends_with_it() -> None:
    engine = Engine()
    engine.feed(INIT)
    engine.send(prompt(FIRST), at_once=True)
    engine.feed(echo(FIRST) + result_of(origin={"kind": "task-notification"}))
    assert engine.prompts.state(FIRST) is PromptState.DONE


def test_C13_a_turn_without_a_prompt_delays_prompts_and_ends_none() -> None:
    # CLI-521: background tasks start turns of their own.
    engine = Engine()
    engine.feed(INIT)
    engine.send(prompt(FIRST))
    assert written(engine) == []
    engine.feed(line(type="result", subtype="success", origin={"kind": "task-notification"}))
    assert [w["uuid"] for w in written(engine)] == [FIRST]
    assert engine.prompts.state(FIRST) is PromptState.SENT


def test_C13_a_background_result_that_races_with_a_prompt_does_not_end_it() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.feed(INIT + line(type="result", subtype="success", origin={"kind": "task-notification"}))
    assert engine.prompts.state(FIRST) is PromptState.SENT
    assert engine.prompts.busy


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_C14_a_prompt_that_the_cli_gives_up_is_cancelled_and_the_next_one_sent(state: str) -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    written(engine)
    engine.feed(line(type="command_lifecycle", command_uuid=FIRST, state=state))
    assert engine.prompts.state(FIRST) is PromptState.CANCELLED
    assert [w["uuid"] for w in written(engine)] == [SECOND]


def test_C14_a_prompt_whose_uuid_the_cli_knows_is_cancelled_and_the_next_one_sent() -> None:
    # CLI-202: dropped, but echoed, and before 2.1.220 that echo is all that is heard of it.
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    written(engine)
    engine.feed(echo(FIRST))
    assert engine.prompts.state(FIRST) is PromptState.CANCELLED
    assert [w["uuid"] for w in written(engine)] == [SECOND]
    engine.feed(INIT + echo(SECOND) + RESULT + lifecycle(SECOND, "completed"))
    assert engine.prompts.state(SECOND) is PromptState.DONE
    engine.send(prompt(THIRD))
    engine.feed(echo(THIRD) + lifecycle(THIRD, "completed"))
    assert engine.prompts.state(THIRD) is PromptState.CANCELLED


def test_C14_a_prompt_that_is_closed_within_its_turn_waits_for_the_result() -> None:
    # Seen on 2.1.325: of a folded prompt the end is told before the result, even if interrupted.
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.feed(lifecycle(FIRST, "started") + INIT)
    engine.send(prompt(SECOND), at_once=True)
    engine.feed(lifecycle(SECOND, "started") + lifecycle(SECOND, "cancelled"))
    assert engine.prompts.state(SECOND) is PromptState.STARTED
    engine.feed(line(type="result", subtype="success", user_message_uuids=[FIRST]))
    assert engine.prompts.state(SECOND) is PromptState.DONE
    assert not engine.prompts.busy


def test_C15_a_uuid_can_be_given_only_once() -> None:
    # CLI-202: the CLI would drop the second one without a word.
    engine = Engine()
    engine.send(prompt(FIRST))
    with pytest.raises(UsageError, match="before"):
        engine.send(prompt(FIRST, "again"))


def test_C16_a_held_prompt_can_be_edited_reordered_and_taken_back() -> None:
    engine = Engine()
    for uuid in (FIRST, SECOND, THIRD):
        engine.send(prompt(uuid))
    assert engine.prompts.replace(prompt(THIRD, "better")) is True
    assert engine.prompts.replace(prompt(FIRST, "too late")) is False
    assert engine.prompts.reorder((THIRD, SECOND)) is True
    assert engine.prompts.reorder((THIRD,)) is False
    assert engine.prompts.cancel(SECOND, "taken back") is True
    assert [p.text for p in engine.prompts.held] == ["better"]


def test_C14_a_prompt_that_goes_into_a_turn_with_others_may_be_echoed_ahead_of_it() -> None:
    # Seen from 2.1.120 on: of two that are merged the first is echoed before the init.
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    engine.feed(echo(FIRST) + INIT + echo(SECOND) + RESULT)
    assert [engine.prompts.state(uuid) for uuid in (FIRST, SECOND)] == [PromptState.DONE] * 2


def test_C50_held_prompts_of_a_shared_queue_go_to_the_next_process() -> None:
    queue = PromptQueue()
    engine = Engine(prompts=queue)
    for uuid in (FIRST, SECOND, THIRD):
        engine.send(prompt(uuid))
    engine.feed(INIT + echo(FIRST))
    engine.process_ended("it crashed")
    assert [held.uuid for held in queue.held] == [SECOND, THIRD]
    assert (queue.state(FIRST), queue.busy) == (PromptState.CANCELLED, False)
    engine.take_output()
    engine.cancel(THIRD, "taken back")
    assert written(engine) == []
    later = Engine(prompts=queue)
    later.write_next_prompt()
    assert [line["uuid"] for line in written(later)] == [SECOND]


def test_C50_the_next_process_counts_turns_and_cost_from_zero() -> None:
    queue = PromptQueue()
    engine = Engine(prompts=queue)
    engine.send(prompt(FIRST))
    engine.feed(lifecycle(FIRST, "started") + INIT + result_of(total_cost_usd=0.5))
    engine.feed(INIT)
    engine.process_ended("it crashed during a turn of its own")
    later = Engine(prompts=queue)
    later.send(prompt(SECOND))
    later.feed(INIT + echo(SECOND) + result_of(total_cost_usd=0.25))
    assert costs(later)[-1] == (SECOND, 0.25)
    later.send(prompt(THIRD))
    later.feed(echo(THIRD))  # Without an init and without lifecycles: it was dropped.
    assert queue.state(THIRD) is PromptState.CANCELLED


def test_C50_without_a_shared_queue_held_prompts_end_with_the_process() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    engine.process_ended("it crashed")
    ends = [move for move in states(engine) if move[1] == "cancelled"]
    assert ends == [(FIRST, "cancelled"), (SECOND, "cancelled")]


def test_C50_a_process_that_reads_no_more_gets_no_prompt_out_of_the_queue() -> None:
    reads = True
    engine = Engine(takes_prompts=lambda: reads)
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    written(engine)
    reads = False
    engine.feed(INIT + echo(FIRST) + RESULT)
    assert engine.send_now(SECOND) is False
    assert (written(engine), engine.prompts.state(SECOND)) == ([], PromptState.HELD)
    reads = True
    engine.write_next_prompt()
    assert [line["uuid"] for line in written(engine)] == [SECOND]


def test_C50_a_paused_queue_waits_for_its_owner() -> None:
    queue = PromptQueue()
    engine = Engine(prompts=queue)
    queue.on_resume = engine.write_next_prompt
    queue.pause()
    engine.send(prompt(FIRST))
    engine.write_next_prompt()
    assert written(engine) == []
    queue.resume()
    assert [line["uuid"] for line in written(engine)] == [FIRST]


def test_C50_what_the_owner_reported_itself_is_not_reported_again() -> None:
    queue = PromptQueue()
    queue.restore(prompt(FIRST))
    queue.restore(prompt(FIRST, "again"))
    queue.restore(prompt(SECOND))
    queue.remove(SECOND)
    queue.remove(SECOND)
    assert queue.moves == []
    assert [held.text for held in queue.held] == ["hi"]
    queue.restore(prompt(SECOND))
    assert queue.get(SECOND) is None
