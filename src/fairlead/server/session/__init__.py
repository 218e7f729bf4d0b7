"""One session: its CLI, its journal, its prompt queue and the requests it has open."""
