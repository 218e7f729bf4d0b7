"""A conversation at a terminal: what is printed, the keyboard, and the questions to the user."""
