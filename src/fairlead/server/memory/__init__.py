"""What keeps the memory of a server small, and its garbage collector from delaying clients."""
