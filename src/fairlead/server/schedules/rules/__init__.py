"""What a schedule is, and what to do with it now. Pure."""
