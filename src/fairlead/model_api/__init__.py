"""A scripted Messages API that real CLIs can talk to instead of a model. It serves loopback only."""
