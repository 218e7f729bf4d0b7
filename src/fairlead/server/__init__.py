"""Many sessions, many clients: the server behind `fairlead serve`."""
