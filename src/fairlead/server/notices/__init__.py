"""Notices: what users are notified of while no page is open, and how."""
