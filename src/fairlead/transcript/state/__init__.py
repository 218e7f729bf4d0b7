"""The values of a transcript, the document that holds them, and the changes that describe it."""
