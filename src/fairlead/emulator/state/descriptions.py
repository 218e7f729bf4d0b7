"""A one-line description of each slash command and subagent of the emulator.

They resemble the descriptions of the real CLI but are written for Fairlead. Names and argument
hints are in `catalog`, and what a command does is in `slash`.
"""

from __future__ import annotations

__all__ = ["AGENTS", "COMMANDS"]

COMMANDS = {
    "__remote-workflow": "Run a workflow on a remote machine",
    "agents": "List the available subagents",
    "auto-mode-setup": "Configure what auto mode may do without asking",
    "autocompact": "Set the token limit at which the conversation is compacted automatically",
    "batch": "Apply one instruction in many places in parallel",
    "claude-api": "Get help with programs that use the Claude API",
    "clear": "Clear conversation history and start a new session",
    "code-review": "Review changes for bugs",
    "color": "Set the prompt color for this terminal session",
    "compact": "Summarize the conversation to free up context",
    "config": "View or change settings",
    "context": "Show current context usage",
    "cost": "Show the total cost and duration of the current session",
    "dataviz": "Create charts from data",
    "debug": "Read the debug log of this session to find a problem",
    "deep-research": "Research a topic, verify claims and write a report with sources",
    "doctor": "Diagnose the Claude Code installation",
    "effort": "Set the effort level of the model",
    "fast": "Toggle fast mode",
    "fewer-permission-prompts": "Suggest permission rules for frequent requests",
    "focus": "Toggle a view that shows only the answers",
    "goal": "Set the goal of this session",
    "heapdump": "Write a heap dump of the CLI to a file",
    "init": "Initialize a new CLAUDE.md file with codebase documentation",
    "insights": "Generate a report about your sessions",
    "list-agents": "List the running agents",
    "loop": "Run a prompt repeatedly",
    "mcp": "List, reconnect, enable or disable MCP servers",
    "model": "Set the AI model for Claude Code",
    "output-style": "Set the output style",
    "plugin-authoring": "Get help with writing a plugin",
    "pr-comments": "Get comments from a GitHub pull request",
    "recap": "Summarize the session so far",
    "release-notes": "View release notes",
    "reload-plugins": "Reload plugins",
    "reload-skills": "Reload skills",
    "rename": "Rename the current session",
    "review": "Review a pull request",
    "run": "Start the project and check that it works",
    "run-skill-generator": "Generate a skill that starts this project",
    "security-review": "Complete a security review of the pending changes on the current branch",
    "simplify": "Simplify code without changing its behavior",
    "team-onboarding": "Explain the project to a new team member",
    "update-config": "Change settings with a description in plain language",
    "usage": "Show the cost and usage of the current session",
    "verify": "Verify that a change works",
    "workflow-authoring": "Get help with writing a workflow",
    "workflow-launch-exec": "Start a workflow",
}

AGENTS = {
    "Bash": "Runs shell commands",
    "Explore": "Explores the codebase and reports what it finds",
    "Plan": "Designs an implementation plan",
    "claude": "Carries out a task with all tools",
    "general-purpose": "Researches questions and carries out tasks with several steps",
    "statusline-setup": "Configures the status line of the terminal",
}
