"""The reproduction: every figure and table of the paper, made with the library."""
