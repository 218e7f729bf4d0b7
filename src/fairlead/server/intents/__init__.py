"""What clients want done, one module per kind, each acting at most once per client and number."""
