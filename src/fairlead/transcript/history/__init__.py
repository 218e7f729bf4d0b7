"""The CLI's own transcript files, read into the same reducer as the live stream."""
