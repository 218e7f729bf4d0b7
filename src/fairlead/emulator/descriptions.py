"""One line for each slash command and subagent that the emulator names, in our own words.

Only what a person reads in a list: names and hints are the catalogue's, and what a command does
is in `slash`.
"""

from __future__ import annotations

__all__ = ["AGENTS", "COMMANDS"]

COMMANDS = {
    "__remote-workflow": "Run a workflow somewhere else",
    "agents": "Show the subagents that can be started",
    "auto-mode-setup": "Choose what the mode auto may do without asking",
    "autocompact": "Say at how many tokens the conversation is summed up by itself",
    "batch": "Carry one instruction out in many places",
    "claude-api": "Help with programs that use the API",
    "clear": "Begin anew: forget the conversation, keep the session open",
    "code-review": "Look a change over for mistakes",
    "color": "Choose the colour of the prompt in a terminal",
    "compact": "Sum the conversation up to make room",
    "config": "Change a setting",
    "context": "Show what fills the context window",
    "cost": "Show what the session has cost",
    "dataviz": "Draw data",
    "debug": "Read this session's own debug log",
    "deep-research": "Search widely, check the claims, write a report with its sources",
    "doctor": "Check the installation, in a terminal",
    "effort": "Say how hard the model shall think",
    "fast": "Switch the faster mode on or off",
    "fewer-permission-prompts": "Propose rules for what is asked most often",
    "focus": "Hide everything but the answers, in a terminal",
    "goal": "Say what the session is for",
    "heapdump": "Write the memory of the CLI to a file",
    "init": "Write a CLAUDE.md for this project",
    "insights": "Report on how the sessions went",
    "list-agents": "Show the agents that run",
    "loop": "Run a prompt again and again",
    "mcp": "Show, reconnect, enable or disable MCP servers",
    "model": "Change the model",
    "output-style": "Change how answers are written",
    "plugin-authoring": "Help to write a plugin",
    "pr-comments": "Fetch the comments of a pull request",
    "recap": "Say what has happened so far",
    "release-notes": "Show what is new in the CLI",
    "reload-plugins": "Read the plugins anew, in a terminal",
    "reload-skills": "Read the skills anew",
    "rename": "Give the session a name",
    "review": "Review a pull request",
    "run": "Start the project and look at it",
    "run-skill-generator": "Write a skill that starts the project",
    "security-review": "Look a change over for holes",
    "simplify": "Make code simpler without changing what it does",
    "team-onboarding": "Explain the project to somebody new",
    "update-config": "Change the settings as asked in words",
    "usage": "Show what the session has cost",
    "verify": "Try whether a change does what it should",
    "workflow-authoring": "Help to write a workflow",
    "workflow-launch-exec": "Start a workflow",
}

AGENTS = {
    "Bash": "Runs commands",
    "Explore": "Looks around in the code and tells what it found",
    "Plan": "Works out how to do something before it is done",
    "claude": "Does what it is told, with every tool",
    "general-purpose": "Searches, reads and carries out tasks of several steps",
    "statusline-setup": "Sets up the status line of a terminal",
}
