"""What the paper prints of its case study: COCO at budget 6."""

from typing import Any

_COCO_AT_6: dict[str, Any] = {
    "shares": {"SSD": 0.221, "Everypixel": 0.454, "Microsoft": 0.32, "Google": 0.004},
    "price": 0.006,
    "comparison": {
        "frugalmct": (0.514, 6.0),
        "frugalml": (0.481, 6.0),
        "best_single": (0.475, 10.0),
        "majority_vote": (0.501, 31.01),
    },
    "seconds": {
        "frugalmct": (60.0, 1.25),
        "frugalml": (6627.0, 1.24),
        "majority_vote": (None, 1.92),
    },
}

NOTHING: tuple[None, None] = (None, None)


def printed_case(dataset: str, budget: float) -> dict[str, Any]:
    """The paper's numbers of a case: empty groups for any but its own."""
    if dataset == "COCO" and budget == 6:
        return _COCO_AT_6
    return {"shares": {}, "price": None, "comparison": {}, "seconds": {}}
