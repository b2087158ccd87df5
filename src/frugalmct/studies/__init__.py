"""Closer looks at single datasets: the case study, labels, runtimes, training sizes, examples, solvers."""
