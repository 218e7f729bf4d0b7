"""Compares the CPU time that Fairlead and the official SDKs need to read the output of a CLI."""
