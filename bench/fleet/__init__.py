"""Cost and gain of several processes, compared with one process."""
