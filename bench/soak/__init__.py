"""A long run at an accelerated pace, to find what grows in a server.

`python -m bench.soak` (`make soak`) keeps a number of sessions at work on a real server. Each session
has one client that disconnects and reconnects, and its CLI is restarted after every few turns. After
some turns the session is deleted and another takes its place, so in the long run the server has the
same to do and to remember. `samples` has what is measured, `plot` draws it with its slope.
"""
