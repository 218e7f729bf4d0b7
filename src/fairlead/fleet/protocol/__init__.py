"""The names and messages of a fleet. Pure: no I/O, no clock."""
