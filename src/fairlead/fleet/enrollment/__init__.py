"""How machines join a fleet and leave it: by a link, a number on both screens, and a key each."""
