"""What the paper claims, each with a test on a run's numbers: one function a claim, listed in `registry`."""
