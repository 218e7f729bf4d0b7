"""The server behind `fairlead serve`: many sessions, many clients."""

from fairlead.server.memory.deferred_modules import defer_modules

defer_modules()
