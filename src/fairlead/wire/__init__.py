"""Bytes to typed messages and back. No I/O, no clock, no randomness.

The files are the pipeline: `framing` cuts bytes into lines, `decode` turns a line into one
of the values of `events`, `system`, `stream`, `blocks` and `control`; `inputs` are the values
a host sends and `encode` writes them. `versions` knows what each CLI version can do.
"""

__all__: list[str] = []
