"""Comments on lines of files, and the review that is sent to the agent as one prompt."""
