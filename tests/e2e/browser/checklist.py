"""The audit checklist of the protocol's features and of the web app's own parts, and its tests.

Every row has at least one test in a real browser against the emulated agent; the main flows have
one against the real CLI besides (`test_real_cli`). A test is named by its module's ending and its
function: `answers.test_…` is in `test_checklist_answers`, `fast_mode.test_…` in `test_fast_mode`.
"""

from __future__ import annotations

__all__ = ["COMPONENTS", "FEATURES"]

FEATURES: dict[str, tuple[str, ...]] = {
    "Regular messages": ("work.test_words_stream_as_markdown",),
    "AskUserQuestion": (
        "answers.test_questions_have_choices_previews_and_room_for_own_words",
        "answers.test_a_question_may_be_left_without_an_answer",
    ),
    "Permission accept/deny": (
        "answers.test_a_permission_shows_the_tool_its_input_and_what_each_answer_means",
        "answers.test_a_denial_takes_words_and_may_stop_the_turn",
    ),
    "Ctrl-C / SIGINT": ("answers.test_control_c_copies_and_signals_nothing",),
    "Escape key": ("answers.test_escape_clears_the_field_then_denies_then_stops",),
    "Graceful interrupt": ("answers.test_the_stop_button_interrupts_and_the_session_goes_on",),
    "@file references": ("panels.test_files_are_completed_after_an_at_sign",),
    "File/image attachments": ("answers.test_pictures_and_files_are_picked_pasted_and_dropped",),
    "Thinking blocks": ("work.test_thinking_is_one_quiet_line_that_opens",),
    "Cost tracking": ("panels.test_the_cost_stands_always_there_with_what_the_last_turn_added",),
    "Process exit codes": ("sessions.test_an_agent_that_dies_is_told_of_and_can_be_resumed",),
    "Subagent events": ("work.test_subagents_are_nested_under_their_call",),
    "Multiple parallel tools": ("work.test_several_tools_at_once_have_a_card_and_a_question_each",),
    "Context compaction": ("sessions.test_compaction_parts_the_conversation",),
    "control_cancel_request": (
        "answers.test_a_permission_that_is_withdrawn_closes_itself_and_says_why",
    ),
    "Edit tool (structured)": ("work.test_an_edit_is_a_diff_with_numbers_in_two_layouts",),
    "Write tool (structured)": (
        "work.test_a_new_file_is_shown_whole_before_and_after",
        "work.test_a_file_that_is_written_again_is_a_diff",
    ),
    "Diff display": ("work.test_an_edit_is_a_diff_with_numbers_in_two_layouts",),
    "Session management": (
        "sessions.test_sessions_are_begun_listed_searched_renamed_pinned_and_archived",
        "sessions.test_an_ended_session_is_resumed_by_a_message",
        "sessions.test_the_latest_session_of_a_folder_is_continued",
    ),
    "Session forking": ("sessions.test_a_session_is_forked_whole_and_from_a_message",),
    "Error handling": (
        "sessions.test_errors_of_the_model_are_told_and_retried",
        "sessions.test_a_limit_that_is_reached_says_so",
        "work.test_a_failed_tool_says_so_in_its_card",
    ),
    "Slash commands (all 12)": ("answers.test_all_twelve_slash_commands_are_offered_and_answered",),
    "Task/Todo system": ("work.test_the_task_list_has_a_spinner_and_what_waits_for_what",),
    "MCP tools & servers": (
        "panels.test_mcp_servers_are_listed_and_their_tools_have_readable_names",
    ),
    "MCP authentication": (
        "panels.test_an_mcp_server_that_wants_a_sign_in_shows_its_address_whole",
    ),
    "MCP resources": ("panels.test_resources_of_mcp_servers_are_completed_after_an_at_sign",),
    "Hooks middleware": ("sessions.test_a_hook_that_decides_is_no_question_and_no_error",),
    "NotebookEdit tool": ("work.test_a_notebook_has_code_cells_and_cells_of_words",),
    "Spawn flags (complete)": (
        "sessions.test_what_was_chosen_for_a_session_is_how_its_agent_is_started",
    ),
    "All permission modes": ("answers.test_a_mode_says_what_is_asked",),
    "/config (TUI-only)": ("panels.test_the_settings_change_the_running_session",),
    "/fast (TUI-only)": (
        "fast_mode.test_the_fast_mode_is_switched_on_and_off_again",
        "fast_mode.test_an_old_cli_has_no_switch_for_it",
        "panels.test_the_model_is_switched_from_the_head_of_the_session",
    ),
    "/help (TUI-only)": ("panels.test_the_help_tells_what_the_session_itself_told",),
    "/keybindings-help (TUI)": (
        "panels.test_keys_are_shown_changed_and_given_back",
        "panels.test_the_keys_are_listed_in_a_window",
    ),
    "/context (enhanced)": (
        "panels.test_the_context_gauge_has_its_parts_and_warns_when_it_is_nearly_full",
    ),
    "/cost (enhanced)": ("panels.test_the_cost_stands_always_there_with_what_the_last_turn_added",),
}
"""The 36 rows of the audit."""

COMPONENTS: dict[str, tuple[str, ...]] = {
    "Settings panel": (
        "panels.test_the_settings_change_the_running_session",
        "panels.test_what_a_device_prefers_is_kept",
    ),
    "Help panel": ("panels.test_the_help_tells_what_the_session_itself_told",),
    "Keybindings panel": (
        "panels.test_keys_are_shown_changed_and_given_back",
        "panels.test_the_keys_are_listed_in_a_window",
    ),
    "Context gauge": (
        "panels.test_the_context_gauge_has_its_parts_and_warns_when_it_is_nearly_full",
    ),
    "Cost display": ("panels.test_the_cost_stands_always_there_with_what_the_last_turn_added",),
    "Diff viewer": (
        "work.test_an_edit_is_a_diff_with_numbers_in_two_layouts",
        "work.test_a_new_file_is_shown_whole_before_and_after",
        "work.test_a_file_that_is_written_again_is_a_diff",
    ),
    "Task list panel": (
        "work.test_the_task_list_has_a_spinner_and_what_waits_for_what",
        "panels.test_background_work_is_listed_looked_at_and_stopped",
    ),
    "MCP server status": (
        "panels.test_mcp_servers_are_listed_and_their_tools_have_readable_names",
        "panels.test_an_mcp_server_that_wants_a_sign_in_shows_its_address_whole",
    ),
    "Escape key handler": ("answers.test_escape_clears_the_field_then_denies_then_stops",),
    "Slash command autocomplete": (
        "answers.test_slash_commands_are_completed_with_words_and_hints",
        "answers.test_all_twelve_slash_commands_are_offered_and_answered",
    ),
    "Permission dialog": (
        "answers.test_a_permission_shows_the_tool_its_input_and_what_each_answer_means",
        "answers.test_a_permission_is_edited_before_it_is_given",
        "answers.test_a_denial_takes_words_and_may_stop_the_turn",
        "answers.test_a_permission_that_is_withdrawn_closes_itself_and_says_why",
    ),
    "Question form": (
        "answers.test_questions_have_choices_previews_and_room_for_own_words",
        "answers.test_a_question_may_be_left_without_an_answer",
        "answers.test_a_plan_is_a_document_to_approve_or_to_comment_on",
    ),
    "Session management": (
        "sessions.test_sessions_are_begun_listed_searched_renamed_pinned_and_archived",
        "sessions.test_an_ended_session_is_resumed_by_a_message",
        "sessions.test_a_session_is_forked_whole_and_from_a_message",
        "sessions.test_the_latest_session_of_a_folder_is_continued",
    ),
    "Notebook cell viewer": ("work.test_a_notebook_has_code_cells_and_cells_of_words",),
}
"""The 14 parts that the web app has to bring itself."""
