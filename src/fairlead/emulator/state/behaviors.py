"""What the newer of the two emulated versions does and the older one does not, by name. Pure.

Every value was measured; most are shown by the recordings (docs/cli-behaviour.md). A field is true
for 2.1.325 and false for 2.1.38. The rest of the emulator asks for a behavior by its name
and never for a version.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["Behaviors", "without_all"]


class Behaviors(Struct, frozen=True, kw_only=True):
    """One boolean for each behavior."""

    # Input and control requests
    reads_all_input_first: bool = True
    """All lines that arrived are read before anything runs; else each is handled before the next."""
    hides_bad_input: bool = True
    """The error about a bad line gives its length and not its text (CLI-901)."""
    ends_turn_on_sigint: bool = True
    """SIGINT ends the turn with a result before the exit (CLI-509)."""
    honors_priority: bool = True
    """A prompt with priority `now` aborts the running turn (CLI-520)."""
    honors_should_query: bool = True
    """A prompt with `shouldQuery: false` is added without calling the model."""
    honors_synthetic_marks: bool = True
    """A prompt marked `isSynthetic` is not replayed, and its result has an origin (CLI-1639)."""
    answers_added_requests: bool = True
    """The control requests that were added later are answered (CLI-1205)."""
    can_cancel_queued: bool = True
    """`interrupt` with `cancel_queued` drops the queue (CLI-204)."""
    interrupt_has_receipt: bool = True
    """The answer to `interrupt` lists the prompts that are still queued (CLI-204)."""
    skips_unchanged_mode: bool = True
    """Setting the mode that the session is in writes no status line."""
    changes_model_at_once: bool = True
    """A new model answers from the next request on; else from the next turn on."""
    answers_with_model: bool = True
    """The answer to `set_model` has the resolved model (CLI-212)."""
    rewind_counts_links: bool = True
    """The answer to `rewind_files` counts the links that it skipped."""
    refusals_have_codes: bool = True
    """An error answer to a control request has an `error_code` (CLI-215)."""
    details_initialize: bool = True
    """The answer to `initialize` has agents, version, mode and open requests (CLI-816)."""
    confirms_hooks: bool = True
    """The answer to `initialize` confirms the hooks."""
    details_commands: bool = True
    """A command is listed with its aliases and whether it is built in."""
    details_models: bool = True
    """A model is listed with what it supports."""

    checks_json: bool = True
    """`--agents` and `--json-schema` must be JSON objects; else others are ignored (CLI-1646)."""

    # Lines
    details_init: bool = True
    """`init` has capabilities, memory paths and MCP errors (CLI-1203)."""
    stamps_lines: bool = True
    """User and assistant lines have a timestamp."""
    reports_lifecycle: bool = True
    """`command_lifecycle` follows each prompt that has a uuid (CLI-1202)."""
    reports_session_state: bool = True
    """`session_state_changed` is written where the environment asks for it (CLI-525)."""
    details_stream_events: bool = True
    """A stream event has the id of its API message."""
    replays_before_stream: bool = True
    """A prompt is replayed before the first stream event; else before the first block."""
    reports_requesting: bool = True
    """With partial messages, a status line precedes each request to the model."""
    assistant_has_request_id: bool = True
    """An assistant line has the id of its API request."""
    assistant_has_prompt_uuids: bool = True
    """The first assistant line has the uuids of the prompts that it answers."""
    details_thinking: bool = True
    """A thinking block is written with its duration."""
    counts_thinking_tokens: bool = True
    """`thinking_tokens` counts while the model thinks (CLI-1201)."""
    keeps_aborted_text: bool = True
    """Text that an interrupt cut off is written with `aborted: true` (CLI-203)."""
    closes_aborted_stream: bool = True
    """The stream events of an interrupted message are completed."""
    labels_subagent_lines: bool = True
    """Lines of a subagent have its id, type and description."""

    # Results
    details_results: bool = True
    """A result has `terminal_reason`, `result_index` and times (CLI-1204)."""
    details_usage: bool = True
    """Usage has the thinking tokens, the speed and the fallback credit."""
    details_model_usage: bool = True
    """Usage of a model has its canonical name, provider and cost basis."""
    keeps_stop_reason: bool = True
    """A result keeps the stop reason of the last streamed reply."""
    interrupt_is_error: bool = True
    """The result of an interrupted turn has `is_error: true` (CLI-1309)."""
    diagnoses_interrupts: bool = True
    """The result of an interrupted turn has a diagnostic text (CLI-203)."""
    limits_are_errors: bool = True
    """The result of a turn that reached a limit is an error with a text (CLI-511)."""
    local_commands_have_no_turns: bool = True
    """`num_turns` of a local command is 0 (CLI-606)."""
    echoes_compact_command: bool = True
    """`/compact` is echoed as other local commands are."""
    rejects_invalid_updates: bool = True
    """An `updatedInput` that does not fit the tool is reported as a rejection."""
    keeps_last_turn: bool = True
    """A compaction keeps the last message of a longer conversation."""
    asks_for_visible_output: bool = True
    """After a reply without text, the model is asked once for visible output."""
    cancels_failed_prompts: bool = True
    """The lifecycle of a prompt whose turn ends in an error is `cancelled`."""
    structured_output_ends_turn: bool = True
    """A valid structured output ends the turn."""
    asks_once_for_structure: bool = True
    """A missing structured output is requested once; else without limit (CLI-512)."""
    names_schema_mismatch: bool = True
    """An output that does not fit its schema is refused with the name of the member."""

    # The model API
    classifies_api_errors: bool = True
    """An API error has a class of its own for 429 and 5xx, and a short text."""
    details_api_errors: bool = True
    """The message about an API error has its status and type."""
    retries_bad_request: bool = True
    """A request that the API answers with 400 is sent again, once."""
    retries_refusals: bool = True
    """After a reply that a classifier stopped, the model is called again, once."""
    resumes_cut_replies: bool = True
    """A reply that broke off after a complete block is continued; else it is requested again."""
    falls_back: bool = True
    """`--fallback-model` answers after three overloads or for a missing model (CLI-1642)."""
    judges_whole_replies: bool = True
    """A reply that was refused or too long is reported after its end; else before."""
    continues_silently_at_limit: bool = True
    """A reply that reached its limit is continued without an error line (CLI-524)."""
    counts_unstreamed_usage: bool = True
    """Tokens of a reply that was not streamed are counted."""

    # Compaction
    hooks_can_refuse_compaction: bool = True
    """A PreCompact hook that blocks stops the compaction."""
    has_post_compact_hooks: bool = True
    """PostCompact hooks run."""
    reports_compaction_result: bool = True
    """The status line at the end of a compaction has its result."""
    empty_instructions_are_null: bool = True
    """`/compact` without instructions gives its hooks null, not an empty text."""
    reports_compaction_first: bool = True
    """The status line of `/compact` precedes its hooks."""
    compacts_with_an_agent: bool = True
    """A subagent writes the summary, and SubagentStop hooks run at its end."""
    counts_compaction: bool = True
    """Tokens of the summary are counted."""
    details_compaction: bool = True
    """The boundary has the duration and the tokens that were dropped."""
    marks_summary_synthetic: bool = True
    """The summary of `/compact` is a synthetic user line."""

    # Hooks
    starts_session_before_prompt: bool = True
    """SessionStart hooks run before the first prompt is queued; else as part of its turn."""
    hook_input_has_prompt_id: bool = True
    """The input of a hook has the id of the prompt."""
    hook_input_has_agent: bool = True
    """The input of a hook inside a subagent has its id and type."""
    hook_input_has_effort: bool = True
    """The input of a hook has the effort level."""
    hook_input_has_duration: bool = True
    """The input of a PostToolUse hook has the duration of the tool."""
    stop_hook_input_has_message: bool = True
    """The input of a Stop hook has the last message and the background tasks."""
    reports_failed_callbacks: bool = True
    """A callback that fails is reported; one that is late stops the tool (CLI-815)."""
    explains_blocked_prompts: bool = True
    """A prompt that a hook blocked is explained by a line (CLI-814)."""
    notifies_of_blocked_stop: bool = True
    """The first Stop hook that blocks is notified of."""
    prefixes_hook_denials: bool = True
    """The text of a denial by a hook names the hook."""
    reports_late_commands: bool = True
    """A PreToolUse command that is killed at its timeout is reported."""
    shows_hook_messages: bool = True
    """A `systemMessage` of a hook is written as a notice (CLI-1609)."""
    hook_requests_offer_nothing: bool = True
    """A permission request that a hook wants suggests no rules."""
    calls_task_agent: bool = True
    """Hooks know the tool Task as Agent."""

    # Permissions
    labels_requests: bool = True
    """A permission request has a display name, a description and a reason type."""
    ask_rules_precede_paths: bool = True
    """A rule that asks about a command is the reason, whatever the command writes (CLI-1624)."""
    reports_denials: bool = True
    """`permission_denied` is written for a denial by a rule or mode (CLI-1201)."""
    reminds_of_requests: bool = True
    """Notification hooks run for a request that stays open."""
    allow_needs_no_input: bool = True
    """`allow` without `updatedInput` runs the original input (CLI-216)."""
    hides_validator_errors: bool = True
    """An invalid answer to a permission request is not called a ZodError."""
    ignores_unknown_destinations: bool = True
    """An update with an unknown destination is skipped; else the answer fails."""
    interrupting_denial_has_fixed_text: bool = True
    """A denial with `interrupt` has a fixed text (CLI-209)."""
    offers_other_modes_only: bool = True
    """A request does not suggest the mode that the session is in."""
    offers_rules_for_protected: bool = True
    """A request about a protected path suggests rules."""
    hides_plans: bool = True
    """The request for ExitPlanMode does not contain the plan (CLI-1317)."""
    refuses_exit_outside_plan: bool = True
    """ExitPlanMode is refused outside of plan mode, without a permission request (CLI-1602)."""
    counts_hook_denials: bool = True
    """A call that a PreToolUse hook denied counts among the denials of the result."""
    lists_each_denial_once: bool = True
    """Two denied calls with the same id are one denial of the result (CLI-1628)."""
    counts_unreadable_denials: bool = True
    """A call that could not be judged counts among the denials of the result."""
    result_has_decision: bool = True
    """A tool result line has the decision and its source (CLI-1204)."""
    rejects_interrupted_tools: bool = True
    """The result of an interrupted tool is a rejection (CLI-206)."""
    questions_are_required: bool = True
    """An answer to AskUserQuestion must repeat the questions (CLI-1306)."""
    ignores_unasked_answers: bool = True
    """Answers to questions that were not asked are dropped (CLI-1305)."""
    returns_annotations: bool = True
    """Notes of the user to a question are passed on."""
    adapts_answer_text: bool = True
    """The result of AskUserQuestion says whether the answers were among those offered."""

    streams_end_over_budget: bool = True
    """The message that exceeds the budget is streamed to its end (CLI-1625)."""

    # Tools
    knows_kill_shell: bool = True
    """KillShell is another name of TaskStop (CLI-1649)."""
    offers_tools_by_name: bool = True
    """Glob, Grep and the Task tools are offered when a flag names them (CLI-1008)."""
    checks_fewer_inputs: bool = True
    """The inputs of some tools are not checked against their schema."""
    survives_bad_paths: bool = True
    """Read refuses a path that is not a text; else the process dies at the next prompt."""
    read_is_checked_late: bool = True
    """Read checks its file when it runs, not before a permission is asked."""
    read_numbers_with_tabs: bool = True
    """Read puts a tab behind the line number, and no reminder at the end (CLI-1002)."""
    completes_edit_inputs: bool = True
    """The input of Edit gets its default for `replace_all`."""
    edits_unread_files: bool = True
    """Edit and Write change a file that was not read before (CLI-1003)."""
    marks_unseen_content: bool = True
    """An edit of a file that was not read says so, and does not count as reading it."""
    brief_file_texts: bool = True
    """The texts of Edit and Write do not repeat what was written."""
    write_result_has_user_modified: bool = True
    """The result of Write says whether the user changed the content."""
    notebook_must_be_read: bool = True
    """NotebookEdit requires that the notebook was read first."""
    notebook_result_has_old_source: bool = True
    """The result of NotebookEdit has the old source."""
    glob_paths_are_relative: bool = True
    """Glob gives paths relative to the working directory."""
    search_counts_totals: bool = True
    """The results of Glob and Grep have the total count."""
    task_create_has_description: bool = True
    """The result of TaskCreate has the description."""
    merges_stderr: bool = True
    """Bash has one stream for stdout and stderr (CLI-1005)."""
    knows_git_diff: bool = True
    """`git diff` that exits with 1 reports a difference and has not failed (CLI-1014)."""
    reports_timeout_in_background: bool = True
    """The result of a command that went to the background at its timeout names the timeout."""
    kills_sleep_at_timeout: bool = True
    """Bash kills a command that begins with `sleep` at its timeout (CLI-1006)."""
    reports_empty_output: bool = True
    """Bash reports that a command wrote nothing."""
    saved_output_has_own_id: bool = True
    """A saved output of Bash has an id of its own; else that of the tool use."""
    reports_saved_output: bool = True
    """The result of Bash names the file of a saved output and has only its beginning."""
    appends_exit_code_to_output: bool = True
    """The output file of a background command ends with its exit code."""
    long_task_ids: bool = True
    """Ids of tasks and subagents are long."""
    tasks_are_per_session: bool = True
    """The output files of tasks are in a folder of the session."""
    writes_background_text: bool = True
    """The text of a background subagent is written (CLI-1102)."""
    reports_subagent_progress: bool = True
    """Each tool use of a subagent is reported as progress of its task."""
    continues_after_agent_denial: bool = True
    """A denial with `interrupt` ends only the subagent it was for; else the turn too (CLI-1603)."""
    fails_subagents: bool = True
    """A subagent that an API error ends has failed; else its text is the error (CLI-1112)."""
    details_subagent_results: bool = True
    """The result of a subagent has its model, tools and statistics."""

    # MCP
    connects_named_servers_early: bool = True
    """Servers that `initialize` names connect at once (CLI-803)."""
    repeats_all_handshakes: bool = True
    """While a server of the host has failed, each prompt repeats the handshake of all of them."""
    sends_client_details: bool = True
    """The CLI sends a server its title and address."""
    hides_dynamic_programs: bool = True
    """A server of the command line or the host whose program is missing is named `stdio`
    (CLI-1604)."""
    hides_mcp_error_codes: bool = True
    """The text of a JSON-RPC error has no code (CLI-804)."""
    names_saved_images: bool = True
    """An image of an MCP result is saved, and the file is named after it."""
    reports_empty_mcp_output: bool = True
    """An MCP result without content becomes a text that says so."""
    hides_denied_servers: bool = True
    """Tools of a server that a rule denies are not offered; else each call is denied (CLI-332)."""
    lists_resource_links: bool = True
    """The result of an MCP tool lists its links to resources (CLI-827)."""
    keeps_images_with_structure: bool = True
    """Images are kept next to structured content (CLI-805)."""
    names_remote_cancel: bool = True
    """The reason of a cancelled call is `remote-cancel` (CLI-808)."""
    lists_server_source: bool = True
    """`init` lists a server with its source."""
    lists_disabled_servers: bool = True
    """`init` lists a server that was switched off as disabled."""
    reconnects_enabled_only: bool = True
    """A server that was switched off cannot be reconnected; else that switches it on."""
    details_mcp_status: bool = True
    """`mcp_status` has the transport, the source and the configuration."""
    lists_tools_again: bool = True
    """`notifications/tools/list_changed` makes the CLI list the tools again."""
    labels_mcp_uses: bool = True
    """The tool use of a server is written with display names."""
    sorts_resource_tools: bool = True
    """The tools for resources stand among the CLI's own tools."""
    sdk_servers_offer_resources: bool = True
    """Servers inside the host offer resources too."""
    hides_resources_for_hosts: bool = True
    """Resources that are pages for a host are hidden from the model."""
    explains_missing_resource: bool = True
    """A resource that is gone is explained; else it is an error."""

    # Start
    takes_added_flags: bool = True
    """The flags that were added later are known (CLI-109)."""
    takes_default_mode_flag: bool = True
    """`--permission-mode default` is taken although it is not listed."""
    lists_project_first: bool = True
    """Commands and servers of the project come before those of the user."""
    has_auth_status: bool = True
    """`auth status` answers."""
    takes_agents_with_agent: bool = True
    """`--agents` with `--agent` starts; else the CLI exits silently (CLI-112)."""
    reports_bad_servers: bool = True
    """A bad MCP configuration is reported; else the CLI exits silently (CLI-1318)."""
    drops_long_context: bool = True
    """An alias with `[1m]` is the model of that alias; else its name keeps the mark (CLI-1650)."""
    keeps_unknown_session_id: bool = True
    """The result about an unknown session has the id that was asked for (CLI-703)."""
    numbers_results: bool = True
    """The result about an unknown session has a `result_index` (CLI-1204)."""
    forks_forget_prompts: bool = True
    """A fork answers a prompt whose uuid the original session has seen (CLI-535)."""
    explains_failed_resume: bool = True
    """An unknown session is also explained on stderr."""


def without_all() -> dict[str, Any]:
    """The values of a version that does nothing of this."""
    return dict.fromkeys(Behaviors.__struct_fields__, False)
