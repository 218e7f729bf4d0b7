"""The permission policy compared with real CLIs on generated calls; see `__main__`."""
