"""The SQLite file: connections, schema, migrations, the data folder and its health."""
