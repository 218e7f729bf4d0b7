"""Host Claude Code."""
