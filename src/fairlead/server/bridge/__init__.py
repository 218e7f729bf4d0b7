"""The legacy `/bridge` socket protocol, translated to the same intents and documents."""
