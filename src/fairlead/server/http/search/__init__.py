"""Searches in sessions and in the names of files."""
