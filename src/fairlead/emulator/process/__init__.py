"""The emulator as a program: start-up, files, standard streams and child processes."""
