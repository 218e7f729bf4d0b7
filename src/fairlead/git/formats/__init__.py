"""Parsers for what git prints. Pure: bytes in, values out."""
