"""Schedules: prompts that the server sends at a time, once or again and again."""
