"""Bytes to typed messages and back. No I/O, no clock, no randomness.

The files are the pipeline: `framing` cuts bytes into lines, `decode` turns a line into one
of the values of `events`, `system`, `stream`, `blocks` and `control`; `inputs` are the values
a host sends and `encode` writes them. `versions` lists what each CLI version does.

The modules with decoded values do without `from __future__ import annotations`: msgspec would
compile the annotation of every field again in each process that makes a decoder.
"""

__all__: list[str] = []
