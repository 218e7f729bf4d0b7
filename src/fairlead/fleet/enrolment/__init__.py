"""How machines join a fleet and leave it: one link, one number on both screens, one key each."""
