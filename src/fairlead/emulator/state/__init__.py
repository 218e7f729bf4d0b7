"""What the emulated CLI knows: session, version profile, conversation, inbox, cost. Pure."""
