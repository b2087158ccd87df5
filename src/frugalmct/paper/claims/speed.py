"""Claims about time: training, answering, and selecting."""

import time

import numpy as np
import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.claims.claim import Finding, claim
from frugalmct.paper.claims.results import Results, Untestable
from frugalmct.paper.names import FRUGALMCT, FRUGALML
from frugalmct.select import OnlineSelector

GENERAL = ("cbc", "highs", "cp_sat", "scip", "gurobi", "mosek")
"""Solvers that know nothing of the problem's structure."""
SEVERAL_ORDERS = 100.0
A_FEW_MINUTES = 300.0
SIMILAR = 2.0
AT_MOST = 3.0
ALL_BASES = "every base is learnt and one chosen; trees grow on at most 1,000 items and 256 columns"
SERVICES, ITEMS, ROUNDS = (4, 8, 16, 32, 64), 5_000, 9


def _runtime(results: Results) -> pd.DataFrame:
    """Of the first dataset studied; one row per method."""
    table = results.table("runtime")
    table = table[table["dataset"] == table["dataset"].iloc[0]].set_index("method")
    if not {FRUGALMCT, FRUGALML} <= set(table.index):
        raise Untestable("FrugalMCT or FrugalML was not timed")
    return table.astype({"training_seconds": float, "inference_seconds": float})


@claim(
    "Training takes 100 times less time than FrugalML's (60 s against 6,627 s on COCO)",
    "section 5, case study; table 3",
    "FrugalML's training takes at least 100 times as long as FrugalMCT's",
    one_split=True,
)
def faster_training(results: Results) -> Finding:
    table = _runtime(results)
    ours, theirs = table.loc[FRUGALMCT, "training_seconds"], table.loc[FRUGALML, "training_seconds"]
    words = (
        f"FrugalMCT {ours:.3g} s, FrugalML {theirs:.3g} s on {table['dataset'].iloc[0]}: "
        f"FrugalMCT takes {ours / theirs:.3g} times as long"
    )
    note = f"FrugalML is solved exactly here, by sorting, where the paper searches a grid; {ALL_BASES}"
    return Finding(words, theirs >= 100 * ours, note)


@claim(
    "Inference takes about as long as FrugalML's (1.25 s against 1.24 s)",
    "section 5, case study; table 3",
    "computation alone, FrugalMCT's takes at most twice as long",
    one_split=True,
)
def similar_inference(results: Results) -> Finding:
    table = _runtime(results)
    ours, theirs = table.loc[FRUGALMCT, "inference_seconds"], table.loc[FRUGALML, "inference_seconds"]
    words = (
        f"FrugalMCT {ours:.3g} s, FrugalML {theirs:.3g} s for all test items of {table['dataset'].iloc[0]}"
    )
    note = "the paper's times seem to include the services' own, which hide the difference"
    return Finding(words, ours <= SIMILAR * theirs, note)


@claim(
    "Majority vote's inference takes longer, since it calls all services (1.92 s against 1.25 s)",
    "section 5, case study; table 3",
    "needs how long services take to answer",
)
def vote_inference(results: Results) -> Finding:
    raise Untestable(
        "how long the services took to answer is in no data; computation alone says nothing of it"
    )


@claim(
    "Training takes a few minutes; on half of COCO 59.5 s",
    "section 5, training size and training cost",
    "training on all training items of the case study takes at most five minutes",
    one_split=True,
)
def few_minutes(results: Results) -> Finding:
    table = _runtime(results)
    seconds = float(table.loc[FRUGALMCT, "training_seconds"])
    items = table["training_items"].get(FRUGALMCT) if "training_items" in table else None
    learnt = f" of {float(items):,.0f} items" if items is not None and not pd.isna(items) else ""
    words = f"{seconds:.3g} s on {table['dataset'].iloc[0]}{learnt}, on one core"
    return Finding(words, seconds <= A_FEW_MINUTES, ALL_BASES)


@claim(
    "The selector is several orders of magnitude faster than ILP solvers (0.231 s against 28 to 501 s)",
    "section 5, case study; figure 3e",
    "on the most items it was tried on every general solver takes at least 100 times as long as the selector",
    one_split=True,
)
def faster_selection(results: Results) -> Finding:
    table = results.table("solver_runtime").dropna(subset=["seconds"])
    online = table[table["solver"] == "online"].set_index("items")["seconds"].astype(float)
    general = table[table["solver"].isin(GENERAL) & table["items"].isin(online.index)]
    if general.empty:
        raise Untestable("the selector or every general solver has no time in this run")
    general = general.sort_values("items").drop_duplicates("solver", keep="last")
    ratios = general["seconds"].astype(float) / online.loc[general["items"]].to_numpy()
    texts = [
        f"{row.solver} {ratio:,.0f} times with {row.items:,} items"
        + (" and was stopped" if str(row.stopped) == "True" else "")
        for row, ratio in zip(general.itertuples(), ratios, strict=True)
    ]
    words = (
        f"the selector's {online.iloc[-1]:.2g} s with {online.index[-1]:,} items; {', '.join(texts)} as long"
    )
    absent = [name for name in ("gurobi", "mosek") if name not in set(general["solver"])]
    note = f"the commercial {' and '.join(absent)} did not run" if absent else ""
    return Finding(words, bool(ratios.min() >= SEVERAL_ORDERS), note)


@claim(
    "The selector is as accurate as the ILP solvers (0.514, theirs 0.511 to 0.514)",
    "figure 3e",
    "its estimated accuracy is within 0.5 points of the proven optimum, on every number of items",
    one_split=True,
)
def as_accurate_as_solvers(results: Results) -> Finding:
    table = results.table("solver_runtime").dropna(subset=["accuracy"])
    proven = table[table["proven"].astype(str) == "True"].groupby("items")["accuracy"].max()
    online = table[table["solver"] == "online"].set_index("items")["accuracy"]
    lost = (proven - online).dropna()
    if lost.empty:
        raise Untestable("no optimum was proven")
    words = (
        f"at most {100 * lost.max():.2f} points below the proven optimum, for {len(lost)} numbers of items"
    )
    return Finding(words, bool(lost.max() <= 0.005), _agreement(results))


def _agreement(results: Results) -> str:
    """Whether solvers that proved their optimum found the same one."""
    table = results.tables.get("solver_agreement")
    if table is None or table.empty:
        return ""
    proven = table[table["proven"].astype(str) == "True"]
    largest = proven["difference"].abs().max()
    if pd.isna(largest):
        return ""
    same = "the gap is 0" if largest <= 1e-9 else f"the largest gap is {100 * largest:.2g} points"
    return (
        f"where other solvers proved their optimum it is the exact method's: {same} in {len(proven):,} runs"
    )


@claim(
    "Selecting takes O(K) computations an item",
    "section 4.3",
    "time an item does not grow with the number of items, and no faster than K, from 4 to 64 services on "
    "made-up estimates: at most 3 times the least, and per service 3 times that of 4",
    one_split=True,
)
def constant_time(results: Results) -> Finding:
    table = results.table("solver_runtime")
    online = table[table["solver"] == "online"].dropna(subset=["seconds"]).sort_values("items")
    if online["items"].nunique() < 2:
        raise Untestable("the selector was timed on one number of items only")
    each = online["seconds"] / online["items"]
    most, last = online["items"].iloc[-1], 1e6 * each.iloc[-1]
    by_services = {services: 1e6 * item_seconds(services) for services in SERVICES}
    steps = {services: seconds / services for services, seconds in by_services.items()}
    grown = max(steps.values()) / steps[SERVICES[0]]
    texts = [f"{seconds:.2g} with {services}" for services, seconds in by_services.items()]
    words = (
        f"{last:.2g} µs an item with {most:,} items, least {1e6 * each.min():.2g} µs; "
        f"{listed(texts)} services, {grown:.1f} times as much a service"
    )
    return Finding(words, bool(each.iloc[-1] <= AT_MOST * each.min() and grown <= AT_MOST))


def item_seconds(services: int) -> float:
    """What Algorithm 1 takes for an item of a market with so many services, at the best of several rounds."""
    rng = np.random.default_rng(services)
    estimated, costs = rng.random((ITEMS, services)), np.arange(services, dtype=np.float64)
    seconds = []
    for _ in range(ROUNDS):
        selector = OnlineSelector(costs, 0, services / 4, ITEMS, 1 / services)
        started = time.perf_counter()
        selector.choose_all(estimated)
        seconds.append(time.perf_counter() - started)
    return min(seconds) / ITEMS


CLAIMS = (
    constant_time,
    faster_selection,
    as_accurate_as_solvers,
    faster_training,
    similar_inference,
    vote_inference,
    few_minutes,
)
