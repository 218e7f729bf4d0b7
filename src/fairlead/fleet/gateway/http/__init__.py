"""The HTTP API of a gateway: which machine a request concerns, and answers of several as one."""
