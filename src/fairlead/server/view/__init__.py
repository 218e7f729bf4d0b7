"""Sessions and the lobby as clients see them, derived from the transcript. No asyncio."""
