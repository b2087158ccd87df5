"""Claims about the budget, the theorems and the combiner."""

import numpy as np
from scipy.sparse import csr_matrix

from frugalmct.combine import combine
from frugalmct.paper.claims.claim import Finding, claim
from frugalmct.paper.claims.results import Results, Untestable
from frugalmct.paper.names import OFFLINE, ONLINE, PLUS
from frugalmct.sparse import label_matrix

ROUNDING = 1e-8
"""Tables are written with ten digits."""
THEOREM_2 = "Theorem 2"
SMALL = 0.01
LIKELY = 0.95
ALPHA = 10
GRIDS = ("M = 10", "M = 20")
NO_LESS = 0.002
KEPT = ["car", "bike"]


@claim(
    "The online algorithm always keeps to the budget",
    "section 4.3, algorithm 1; theorem 4.3",
    "no mean cost of any run is above its budget",
)
def within_budget(results: Results) -> Finding:
    rows = results.table("tradeoff").dropna(subset=["cost"])
    rows = rows[rows["method"].isin([ONLINE, OFFLINE, PLUS])]
    if rows.empty:
        raise Untestable("FrugalMCT has no result in this run")
    over = rows["cost"] - rows["budget"] * (1 + ROUNDING)
    words = f"largest overrun {max(over.max(), 0.0):.3g} in {len(rows):,} runs, offline and plus included"
    return Finding(words, bool((over <= 0).all()))


@claim(
    "Theorem 1: some p* gives a strategy within the budget whose accuracy is at most 1/N below the optimum",
    "section 4.3, theorem 4.2; appendix B",
    "the relaxation's strategy, rounded as in the proof, is at most 1/N below the proven optimum, and within "
    "the budget",
    one_split=True,
)
def theorem_1(results: Results) -> Finding:
    table = results.table("solver_runtime").dropna(subset=["accuracy"])
    relaxed = table[table["solver"] == "lp"].set_index("items")
    proven = table[table["proven"].astype(str) == "True"].groupby("items")["accuracy"].max()
    lost = (proven - relaxed["accuracy"]).dropna()
    if lost.empty:
        raise Untestable("the relaxation or a proven optimum is missing")
    share = lost * lost.index
    over = relaxed["cost"] > relaxed["budget"] * (1 + ROUNDING)
    words = f"at most {share.max():.2g} of 1/N lost, for N = {', '.join(f'{n:,}' for n in lost.index)}"
    note = (
        "forests estimate the same for many items, so the theorem's continuous density is not given; ties "
        "are broken item by item"
    )
    return Finding(words, bool((share <= 1 + 1e-6).all() and not over.any()), note)


@claim(
    "Theorem 2: with the theorem's δ, online loses at most O(sqrt(log(N/ε)/N) + the same of the training "
    "items) against offline, and keeps to the budget",
    "section 4.3, theorem 4.3; appendix B",
    "in 95 % of draws the regret is within the bound with a constant of 1, for every number of items",
    one_split=True,
)
def theorem_2(results: Results) -> Finding:
    rows = results.table("robustness")
    rows = rows[(rows["part"] == "items") & (rows["method"] == ONLINE)].dropna(subset=["regret", "bound"])
    rows = rows[rows["setting"].astype(str).str.contains(THEOREM_2, regex=False)]
    if rows.empty:
        raise Untestable("no regret was measured with the theorem's δ")
    share = (rows["regret_high"].fillna(rows["regret"]) / rows["bound"]).max()
    over = (rows["highest_cost"] > rows["budget"] * (1 + ROUNDING)).sum()
    sizes = sorted(rows["items"].unique())
    ends = [
        f"N = {size:,.0f}: {100 * rows.loc[rows['items'] == size, 'regret'].max():.2g} points"
        for size in (sizes[0], sizes[-1])
    ]
    words = (
        f"regret at most {share:.2f} of the bound; {'; '.join(ends)}; {over} of {len(rows)} settings over "
        "the budget"
    )
    return Finding(words, bool(share <= 1 and over == 0), "the theorem leaves its constant open")


@claim(
    "A small δ, at most 0.01, is enough in practice",
    "section 4.3; appendix A",
    "at δ = 0.01 the true accuracy is within 0.2 points of the best δ tried",
    one_split=True,
)
def small_delta(results: Results) -> Finding:
    rows = results.table("robustness")
    rows = rows[(rows["part"] == "delta") & (rows["method"] == ONLINE)].dropna(subset=["accuracy"])
    best = rows.groupby("dataset", sort=False)["accuracy"].max()
    small = rows[(rows["delta"] - SMALL).abs() < ROUNDING].groupby("dataset", sort=False)["accuracy"].max()
    lost = (best - small).dropna()
    if lost.empty:
        raise Untestable("no δ was varied in this run")
    words = ", ".join(f"{name} {100 * value:.2f} points below the best δ" for name, value in lost.items())
    return Finding(words, bool(lost.max() <= 0.002))


@claim(
    "A small buffer δ ensures with high probability that the strategy at p̂ satisfies the budget, before "
    "Algorithm 1 withholds anything",
    "section 4.3, after problem 4.3",
    "at δ = 0.01 p̂ alone keeps to the budget in 95 % of the draws of test items, on every dataset",
    one_split=True,
)
def budget_by_price(results: Results) -> Finding:
    rows = results.table("robustness")
    if "kept_by_price" not in rows:
        raise Untestable("what p̂ alone spends was not measured")
    rows = rows[(rows["part"] == "delta") & (rows["method"] == ONLINE)].dropna(subset=["kept_by_price"])
    small = rows[(rows["delta"] - SMALL).abs() < ROUNDING].set_index("dataset")["kept_by_price"]
    if small.empty:
        raise Untestable("no δ was varied in this run")
    words = ", ".join(f"{name} {100 * share:.0f} % of draws" for name, share in small.items())
    failed = [str(name) for name in small.index[small < LIKELY]]
    least = rows[rows["kept_by_price"] >= LIKELY].groupby("dataset", sort=False)["delta"].min()
    note = ", ".join(f"{name} {least[name]:g}" for name in failed if name in least)
    return Finding(words, not failed, f"the least δ tried that does: {note}" if note else "", where=failed)


def _answer(*pairs: tuple[int, float]) -> csr_matrix:
    labels, scores = zip(*pairs, strict=True)
    return label_matrix([0, len(labels)], list(labels), list(scores), 3)


@claim(
    "Worked example of the combiner: with w = 0.3, {person 0.8, car 0.7} and {car 0.5, bike 0.4} give "
    "person 0.24, car 0.46, bike 0.28, and θ = 0.25 leaves car and bike",
    "section 4.4",
    "the combiner of this code gives the same",
)
def combiner_example(results: Results) -> Finding:
    base, addon = _answer((0, 0.8), (1, 0.7)), _answer((1, 0.5), (2, 0.4))
    names = ("person", "car", "bike")
    every, kept = (combine(base, addon, 0.3, threshold) for threshold in (0.0, 0.25))
    scores = {names[k]: round(float(v), 6) for k, v in zip(every.indices, every.data, strict=True)}
    left = [names[k] for k in kept.indices]
    words = (
        f"{', '.join(f'{name} {score:.2f}' for name, score in scores.items())}; left: {' and '.join(left)}"
    )
    told = {"person": 0.24, "car": 0.46, "bike": 0.28}
    note = "0.3 x 0.7 + 0.7 x 0.5 is 0.56, not 0.46: the labels left are the same" if left == KEPT else ""
    return Finding(words, scores == told and left == KEPT, note)


@claim(
    "A grid of M = 10 steps is sufficient for w and θ",
    "appendix A",
    "the mean test accuracy of the base with each service is at most 0.2 points higher by M = 20",
    one_split=True,
)
def fine_grid(results: Results) -> Finding:
    table = results.table("case_study")
    rows = table[table["part"] == "grid"]
    if rows.empty:
        raise Untestable("no finer grid was tried in this run")
    found = rows.pivot_table(index="dataset", columns="name", values="accuracy")
    gain = found[GRIDS[1]] - found[GRIDS[0]]
    words = ", ".join(f"{name} {100 * value:+.2f} points by M = 20" for name, value in gain.items())
    return Finding(words, bool(gain.max() <= NO_LESS))


@claim(
    "Choosing δ = α log N / N with α from -10 to 10 is sufficient for a highly accurate solution",
    "appendix A",
    "the best δ tried within that range is within 0.2 points of the best one tried at all",
    one_split=True,
)
def delta_range(results: Results) -> Finding:
    rows = results.table("robustness")
    rows = rows[(rows["part"] == "delta") & (rows["method"] == ONLINE)].dropna(subset=["accuracy"])
    most = ALPHA * np.log(rows["train_items"]) / rows["train_items"]
    within = rows[rows["delta"].abs() <= most + ROUNDING]
    lost = (
        rows.groupby("dataset", sort=False)["accuracy"].max() - within.groupby("dataset")["accuracy"].max()
    ).dropna()
    if lost.empty:
        raise Untestable("no δ within the range was tried in this run")
    words = ", ".join(f"{name} {100 * value:.2f} points below the best δ" for name, value in lost.items())
    return Finding(words, bool(lost.max() <= NO_LESS))


CLAIMS = (
    within_budget,
    theorem_1,
    theorem_2,
    small_delta,
    budget_by_price,
    combiner_example,
    fine_grid,
    delta_range,
)
