"""A schedule, and the next step for it at a given time. Pure."""
