"""Several processes of one server: the front serves clients, workers run sessions."""
