"""Methods by name, as in the column `method`; `looks` says how readers see them."""

ONLINE, OFFLINE = "frugalmct_online", "frugalmct_offline"
PLUS = "frugalmct_plus"
DAP, FRUGALML = "dap", "frugalml"
MAJORITY, WEIGHTED = "majority_vote", "weighted_majority_vote"
# The same with what FrugalMCT has: a silent service has no say; a θ per service; the combiner; the best base.
MAJORITY_ABSTAINING, WEIGHTED_ABSTAINING = "majority_vote_abstaining", "weighted_majority_vote_abstaining"
FRUGALML_THRESHOLDS, FRUGALML_COMBINED = "frugalml_thresholds", "frugalml_combined"
# FrugalML with the combiner of plus.
FRUGALML_LEARNED = "frugalml_learned"
DAP_BEST_BASE = "dap_best_base"
# Limits and yardsticks: true accuracies known; the same with the best of three answers; money spent blindly.
ORACLE, IDEAL, RANDOM_MIX = "oracle", "ideal_combiner", "random_mix"
# Where every call has its own cost, and one answer stands: our method, and how others route.
PER_CALL = "frugalmct_per_call"
THRESHOLD, NEAREST, CLUSTERS = "threshold_router", "nearest_neighbours", "best_per_cluster"
# Our method with one service less.
WITHOUT = "without:"
SINGLE = "single:"
BEST_SINGLE = "best_single"
# The paper's word where it does not tell online from offline.
FRUGALMCT = "frugalmct"

DUMMY = "mean"
"""The predictor that the paper calls dummy; as a method of the long table it is `dap`."""

# What files of ours say of themselves, in a figure's description and in a dataset's headline.
MADE_BY = "frugalmct.paper"
DONE = "is done"

OK = "ok"
"""In the column `status`: the row is what its method reached."""


def single(service: str) -> str:
    """The method that asks this service alone."""
    return f"{SINGLE}{service}"
