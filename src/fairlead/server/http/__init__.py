"""HTTP routes: the web app, the API, files, uploads, search, usage and exports."""
