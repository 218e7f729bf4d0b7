"""Servers that a user could choose instead of Fairlead, and Fairlead, on the same scripted CLI.

`python -m bench.servers` runs them in turns: `contenders` has how each is installed, started and
driven, `agent` is the CLI that all of them start, `measure` what is measured of each, `figures` how
it is reported. All of it happens on loopback, with a home folder of its own and made-up names.
"""
