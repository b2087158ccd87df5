"""A forest whose splits are drawn at random: it routes about as well as the paper's, and grows faster.

A threshold drawn at random needs no sorting, which on dense features halves the time; more columns are tried
at each split to make up for it.
"""

from frugalmct.predict.random_forest import RandomForest


class ExtraTrees(RandomForest):
    """Extremely randomised trees; options, choice of leaf size and saved form are those of the forest."""

    name = "extra_trees"
    splitter = "random"
    share_tried = 0.5
    most_tried = 64
    most_rows = 3_000
