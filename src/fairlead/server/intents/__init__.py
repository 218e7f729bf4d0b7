"""Handlers of intents, one module per kind; each intent acts at most once per client and number."""
