"""What clients see of a session and of the lobby, derived from the transcript. No asyncio."""
