"""What a budget covers, and what follows from what was spent. Pure."""
