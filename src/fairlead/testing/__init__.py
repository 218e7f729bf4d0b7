"""For tests of programs that host Claude Code, without an account and without a network.

`real_cli` fetches CLIs of given versions (with `node`), `hermetic` makes their environment,
`isolated` runs a command with loopback only. The scripted model is `fairlead.emulator`.
"""

__all__: list[str] = []
