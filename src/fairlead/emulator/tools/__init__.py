"""The tools of the emulator: one file each, with results in the form of the CLI.

`runner` selects the tool by its name; `outcome` is their common result.
"""

__all__: list[str] = []
