"""Serves browsers for all nodes of a fleet: mirrors of documents, and the way back to each node."""
