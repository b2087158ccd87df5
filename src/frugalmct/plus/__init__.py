"""FrugalMCT plus: a learned combiner, a base chosen over folds, and a second add-on where it pays."""

from frugalmct.plus.strategy import PlusEvaluation, PlusStrategy
from frugalmct.plus.training import PlusPlan

__all__ = ["PlusEvaluation", "PlusPlan", "PlusStrategy"]
