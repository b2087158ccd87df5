"""General integer programming solvers, one file each, on the whole model and on what fixing leaves of it."""
