"""What FrugalMCT is compared with: single services, FrugalML, votes, a blind mix, and the oracle."""

from frugalmct.registry import Registry

BASELINES = Registry(
    "baseline",
    {
        "frugalml": "frugalmct.baselines.frugalml:FrugalML",
        "majority_vote": "frugalmct.baselines.votes:majority_vote",
        "oracle": "frugalmct.baselines.yardsticks:oracle",
        "random_mix": "frugalmct.baselines.yardsticks:random_mix",
        "single": "frugalmct.baselines.yardsticks:single_services",
        "weighted_majority_vote": "frugalmct.baselines.votes:WeightedMajorityVote",
    },
)
