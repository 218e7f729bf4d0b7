"""One module per table: its rows and the statements that read and write them."""
