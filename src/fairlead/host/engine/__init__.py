"""The protocol as a state machine: lines in, events out, lines to write. Pure: no I/O, no clock."""
