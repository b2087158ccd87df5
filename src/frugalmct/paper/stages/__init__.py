"""What the rules of a repetition do, in their order: combine, estimate, select, plus, baselines."""
