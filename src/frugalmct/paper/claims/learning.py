"""Claims about the accuracy predictors and the training items."""

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.claims.claim import NO_PAPER_DATASET, Finding, claim
from frugalmct.paper.claims.results import (
    Results,
    Untestable,
    above,
    distance,
    enough_above,
    in_points,
    pieces,
    undecided,
)
from frugalmct.paper.intervals import Interval
from frugalmct.paper.names import DUMMY
from frugalmct.paper.wording import counted

AUTOML = {"auto_sklearn": "auto-sklearn", "auto_pytorch": "Auto-PyTorch"}
OTHER_AUTOML = {"flaml": "FLAML"}
SIMILAR = 0.01
FEW_THOUSAND = 4000
FEW_FOR_FRUGALML = 1000
BOTH = f"both fewer and more than {FEW_THOUSAND:,} items"
CAP = "a tree of the forest grows on 1,000 items at most, which leaves more items less to gain"
NEAR_RMSE, NEAR_PCC = 0.03, 0.10


def _quality(results: Results) -> pd.DataFrame:
    """Learnt and dummy predictor side by side: one row per dataset and repetition, the mean over bases."""
    keys = ["dataset", "repetition", "base"]
    table = results.table("predictor_quality").set_index(keys)
    is_dummy = table["predictor"] == DUMMY
    named = {"rmse": "rmse_dummy", "pcc": "pcc_dummy"}
    both = table[~is_dummy].join(table.loc[is_dummy, list(named)].rename(columns=named), how="inner")
    if both.empty:
        raise Untestable("the predictor or the dummy has no result in this run")
    return both.groupby(level=keys[:2], sort=False).mean(numeric_only=True)


def gains(results: Results, better: str, worse: str) -> dict[str, Interval]:
    """Dataset -> the difference of two columns, paired by repetition."""
    rows = _quality(results).groupby(level="dataset", sort=False)
    return {str(name): results.difference(own[better] - own[worse]) for name, own in rows}


@claim(
    "The predictor has a much smaller RMSE and a higher correlation than the dummy (DAP): easy features tell "
    "which service is likely to work well",
    "section 1, contributions; section 5, accuracy predictors; appendix C, table 7",
    "on every dataset both differences have their interval on the better side of 0",
    fitted="the predictor's RMSE and correlation",
)
def better_than_dummy(results: Results) -> Finding:
    fewer, more = gains(results, "rmse_dummy", "rmse"), gains(results, "pcc", "pcc_dummy")
    sides = [enough_above(side, 0.0, len(side)) for side in (fewer, more)]
    holds = None if None in sides and False not in sides else all(sides)
    clear = sum(above(fewer[name], 0.0) and above(more[name], 0.0) for name in fewer)
    rmse, pcc = (np.mean([found.mean for found in side.values()]) for side in (fewer, more))
    words = (
        f"{clear} of {counted(len(fewer), 'dataset')}; on average RMSE {rmse:.3f} smaller, correlation "
        f"{pcc:.2f} higher"
    )
    return Finding(words, holds, undecided(holds))


@claim(
    "RMSE (0.17 to 0.31) and correlation (0.48 to 0.72) of the predictor, dataset by dataset",
    "section 5, table 5; appendix C, table 7",
    "every RMSE is within 0.03 and every correlation within 0.10 of the paper's",
    of_data=True,
    fitted="the predictor's RMSE and correlation",
)
def table_7(results: Results) -> Finding:
    table = results.table("predictor_quality")
    means = table[table["predictor"] != DUMMY].groupby("dataset", sort=False).mean(numeric_only=True)
    means = means.dropna(subset=["paper_rmse", "paper_pcc"])
    if means.empty:
        raise Untestable(NO_PAPER_DATASET)
    rmse, pcc = means["rmse"] - means["paper_rmse"], means["pcc"] - means["paper_pcc"]
    near = (rmse.abs().round(9) <= NEAR_RMSE) & (pcc.abs().round(9) <= NEAR_PCC)
    worst, other = rmse.abs().idxmax(), pcc.abs().idxmax()
    ours, paper = means.loc[worst, ["rmse", "paper_rmse"]]
    words = (
        f"{near.sum()} of {counted(len(means), 'dataset')} within; RMSE furthest on {worst}, {ours:.2f}, "
        f"{distance(ours, paper, share=False)}; correlation furthest on {other}, "
        f"{distance(means.loc[other, 'pcc'], means.loc[other, 'paper_pcc'], share=False)}"
    )
    return Finding(words, bool(near.all()), where=list(means.index[~near]))


@claim(
    "RMSE of the dummy predictor (0.21 to 0.41), dataset by dataset",
    "appendix C, table 7",
    "every one is within 0.03 of the paper's",
    of_data=True,
)
def dummy_rmse(results: Results) -> Finding:
    table = results.table("predictor_quality")
    means = table[table["predictor"] == DUMMY].groupby("dataset", sort=False).mean(numeric_only=True)
    means = means.dropna(subset=["rmse", "paper_rmse"])
    if means.empty:
        raise Untestable(NO_PAPER_DATASET)
    apart = (means["rmse"] - means["paper_rmse"]).round(9)
    far = [str(name) for name in apart.index[apart.abs() > NEAR_RMSE]]
    texts = ", ".join(f"{name} {means.loc[name, 'rmse']:.2f} ({apart[name]:+.2f})" for name in means.index)
    return Finding(f"{len(apart) - len(far)} of {len(apart)} within; {texts}", not far, where=far)


@claim(
    "With predictors from AutoML toolkits (auto-sklearn, Auto-PyTorch) the performance is similar",
    "section 5, accuracy predictors",
    "on average over datasets and budgets each of the two that ran is within 1 point of the forest",
)
def automl_similar(results: Results) -> Finding:
    table = results.table("predictors").dropna(subset=["gain"])
    gains = {name: table.loc[table["predictor"] == name, "gain"] for name in (*AUTOML, *OTHER_AUTOML)}
    ran = {name: own for name, own in gains.items() if len(own)}
    words = ", ".join(
        f"{(AUTOML | OTHER_AUTOML)[name]} {100 * own.mean():+.2f} points "
        f"({100 * own.min():+.1f} to {100 * own.max():+.1f})"
        for name, own in ran.items()
    )
    absent = [name for key, name in AUTOML.items() if key not in ran]
    notes = [f"{listed(absent)} did not run here"] if absent else []
    notes += ["FLAML is not in the paper, and decides nothing"] if "flaml" in ran else []
    sides = [abs(own.mean()) <= SIMILAR for name, own in ran.items() if name in AUTOML]
    return Finding(words, all(sides) if sides else None, "; ".join(notes))


@claim(
    "A few thousand training items typically suffice",
    "section 5, training size; figure 5",
    "with at most 4,000 items the mean accuracy is less than 1 point below that with most items, "
    "interval and all, on every dataset that has more",
)
def few_thousand(results: Results) -> Finding:
    found, lines, skipped = {}, [], []
    for dataset, rows in results.table("training_size").groupby("dataset", sort=False):
        sizes = sorted(rows["train_items"].unique())
        enough = [size for size in sizes if size <= FEW_THOUSAND]
        if not enough or enough[-1] == sizes[-1]:
            skipped.append(str(dataset))
            continue
        wide = rows.pivot_table(index="repetition", columns="train_items", values="accuracy")
        lost = found[str(dataset)] = results.difference(wide[enough[-1]] - wide[sizes[-1]])
        lines.append(f"{dataset} {in_points(lost)} with {enough[-1]:,} of {sizes[-1]:,} items")
    if not found:
        raise Untestable(f"no dataset was learnt from {BOTH}")
    holds = enough_above(found, -SIMILAR, len(found))
    left_out = f"{listed(skipped)} left out: not learnt from {BOTH}" if skipped else ""
    note = undecided(holds, "; ".join(pieces([left_out, CAP])))
    return Finding(", ".join(lines), holds, note, [name for name in found if found[name].mean <= -SIMILAR])


@claim(
    "FrugalML requires a large amount of training data",
    "section 1",
    "with at most 1,000 items FrugalML is more than 1 point below itself with most items, interval and all, "
    "on more than half of the datasets",
)
def frugalml_needs_items(results: Results) -> Finding:
    table = results.table("training_size")
    if "frugalml_accuracy" not in table:
        raise Untestable("FrugalML was not learnt from fewer items in this run")
    found, lines = {}, []
    for dataset, rows in table.dropna(subset=["frugalml_accuracy"]).groupby("dataset", sort=False):
        sizes = sorted(rows["train_items"].unique())
        few = [size for size in sizes if size <= FEW_FOR_FRUGALML]
        if not few or few[-1] == sizes[-1]:
            continue
        wide = rows.pivot_table(index="repetition", columns="train_items", values="frugalml_accuracy")
        lost = found[str(dataset)] = results.difference(wide[sizes[-1]] - wide[few[-1]])
        lines.append(f"{dataset} {in_points(lost)} by {sizes[-1]:,} instead of {few[-1]:,} items")
    if not found:
        raise Untestable("no dataset was learnt from both fewer and more than 1,000 items")
    holds = enough_above(found, SIMILAR, len(found) // 2 + 1)
    note = "it has one superclass of all labels here and is solved exactly; rules for every label need more"
    return Finding(", ".join(lines), holds, undecided(holds, note))


CLAIMS = (better_than_dummy, table_7, dummy_rmse, automl_similar, few_thousand, frugalml_needs_items)
