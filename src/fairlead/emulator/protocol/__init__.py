"""The lines that the emulator writes and the control requests that it answers."""
