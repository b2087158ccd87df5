"""A forest whose splits are drawn at random: less noisy estimates than the paper's forest, in less time.

Of noisy estimates the selector takes the luckiest. A threshold drawn by lot follows the noise less than the
best one does, and needs no sorting; more columns are tried at each split to make up for it.
"""

from frugalmct.predict.random_forest import RandomForest


class ExtraTrees(RandomForest):
    """Extremely randomised trees; options, choice of leaf size and saved form are those of the forest."""

    name = "extra_trees"
    grower = "ExtraTreesRegressor"
    share_tried = 0.5
