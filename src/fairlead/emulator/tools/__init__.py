"""The tools of the emulator: real ones, one file each, in the result shapes of the CLI.

`workshop` finds the tool for a name; `outcome` is what all of them give back.
"""

__all__: list[str] = []
