"""`fairlead gateway`, `fairlead node` and `fairlead fleet`: many machines as one."""
