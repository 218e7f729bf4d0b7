"""The parts of `fairlead serve`: checks of its arguments, and its settings file."""
