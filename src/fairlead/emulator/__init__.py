"""A model that needs no account, for the real CLI to talk to.

`model_api` is the door; `replies` is what it can say, `model_script` who gets which answer,
`model_request` and `side_request` what was asked, `gate` how a reply is held, `exchange` and
`http_exchange` how it is delivered.
"""

__all__: list[str] = []
