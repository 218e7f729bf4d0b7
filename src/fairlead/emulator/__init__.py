"""A `claude` that needs no account, and a model that needs none for the real one.

The emulated CLI: `program` is the process, `engine` its sans-I/O core; `flags`, `startup` and
`session_files` begin a session, `profile` says how the versions differ, `turn`, `listening`,
`tool_call` and `permission_desk` are a turn, `controls` and `slash` what a host may ask, `player`
and `scenario` what the model says, `tools/` what it can do.

The scripted Messages API: `model_api` is the door; `replies` is what it can say, `model_script` who
gets which answer, `model_request` and `side_request` what was asked, `gate` how a reply is held,
`exchange` and `http_exchange` how it is delivered.
"""

__all__: list[str] = []
