"""What several processes cost and gain, beside one process."""
