"""Notices: what users are told while no page is open, and the ways to tell them."""
