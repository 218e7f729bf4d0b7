"""A `claude` that needs no account: it plays a script over the CLI's own protocol.

`process` is the program with its files and child processes, `engine` the core without I/O, `state`
what a session knows and how the versions differ, `turn` what happens in one turn, `protocol` the
lines that are written, `tools` what the model can use, `mcp` its servers, and `script` what the
model says. `scenarios` holds scripts that come with the package.

The scripted Messages API, with which a real CLI plays the same scripts, is `fairlead.model_api`.
"""

__all__: list[str] = []
