"""Servers that a user could choose instead of Fairlead, and Fairlead, on the same scripted CLI.

`python -m bench.servers` runs them in turns: `contenders` lists them, `contender` says what each can
do, `cloudcli`, `claude_code_remote` and `hapi` drive the other servers, `agent` is the CLI that all of
them start, `measure` what is measured of each, `figures` how it is reported. All of it happens on
loopback, with a home folder of its own and made-up names.
"""
