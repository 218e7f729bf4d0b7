"""The server behind `fairlead serve`: many sessions, many clients."""
