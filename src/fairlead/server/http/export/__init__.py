"""Exports of sessions, and their import."""
