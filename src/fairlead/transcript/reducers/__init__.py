"""One reducer per kind of message: each changes the document through `Fold` only."""
