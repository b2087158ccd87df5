"""Studies of datasets whose calls have costs of their own; same names and columns as those of label sets."""
