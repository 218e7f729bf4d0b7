"""Which sessions a budget covers, and which level its spending has reached. Pure."""
