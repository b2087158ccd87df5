"""Claims about votes, and the case study on COCO."""

import pandas as pd

from frugalmct.errors import listed
from frugalmct.paper.claims.claim import NO_PAPER_DATASET, Finding, claim, not_run
from frugalmct.paper.claims.results import (
    Best,
    Results,
    Untestable,
    enough_above,
    for_arms,
    in_points,
    undecided,
)
from frugalmct.paper.intervals import Interval
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import (
    FRUGALMCT,
    FRUGALML,
    FRUGALML_COMBINED,
    MAJORITY,
    MAJORITY_ABSTAINING,
    ONLINE,
    WEIGHTED,
    WEIGHTED_ABSTAINING,
)
from frugalmct.paper.printed import printed_of
from frugalmct.paper.wording import counted

SIMILAR = 0.02
MUCH_CHEAPER = 0.5
NEAR_SHARE = 0.10
VOTES, FAIR_VOTES = (MAJORITY, WEIGHTED), (MAJORITY_ABSTAINING, WEIGHTED_ABSTAINING)
FITTED = "the votes' accuracies"


def better_vote(results: Results, dataset: str, votes: tuple[str, ...] = VOTES) -> Best | None:
    """The vote with the higher mean accuracy."""
    found = [results.at_its_best(dataset, method) for method in votes]
    known = [best for best in found if best is not None]
    return max(known, key=lambda best: best.accuracy.mean()) if known else None


def leads_over_votes(results: Results, method: str, votes: tuple[str, ...] = VOTES) -> dict[str, Interval]:
    """Dataset -> the method's highest accuracy less the better vote's."""
    found = {}
    for name in results.datasets:
        own, vote = results.at_its_best(name, method), better_vote(results, name, votes)
        if own is not None and vote is not None:
            found[name] = results.difference(own.accuracy - vote.accuracy)
    if not found and method == ONLINE:
        raise Untestable("no dataset has both FrugalMCT and votes")
    return found


@claim(
    "Ensembles produce an accuracy similar to FrugalMCT's, at a much higher cost",
    "section 5, trade-offs; appendix C, table 6",
    "FrugalMCT's highest accuracy is at most 2 points below the better vote's, at half its cost or less, on "
    "more than half of the datasets",
    fitted=FITTED,
)
def votes_cost_more(results: Results) -> Finding:
    def cheap(method: str, found: dict[str, Interval]) -> list[str]:
        return [name for name in found if _cost_share(results, name, method) <= MUCH_CHEAPER]

    def words(method: str) -> str:
        found = leads_over_votes(results, method)
        close = [name for name, lead in found.items() if lead.mean >= -SIMILAR]
        both = set(close) & set(cheap(method, found))
        texts = [f"{name} {100 * lead.mean:+.1f}" for name, lead in found.items()]
        return (
            f"similar on {len(close)}, at half the cost on {len(cheap(method, found))}, both on "
            f"{len(both)} of {counted(len(found), 'dataset')}; {', '.join(texts)} points"
        )

    found = leads_over_votes(results, ONLINE)
    both = [name for name in cheap(ONLINE, found) if found[name].mean >= -SIMILAR]
    return Finding(for_arms(results, words), 2 * len(both) > len(found), _told_of_votes(results))


def _cost_share(results: Results, dataset: str, method: str) -> float:
    """What the method costs within a tenth of a point of its best, as a share of the vote's cost."""
    accuracy = results.accuracies(dataset, method).mean(axis=0)
    budget = float(accuracy.index[accuracy >= accuracy.max() - 0.001][0])
    rows = results.by_dataset[dataset].of(method)
    cost = rows.loc[rows["budget"] == budget, "cost"].mean()
    vote = better_vote(results, dataset)
    assert vote is not None  # only datasets with votes are asked for
    return float(cost / vote.cost)


def _told_of_votes(results: Results) -> str:
    """What the paper's own table says."""
    behind = []
    for name in results.of_paper():
        table = printed_of(name)["paper"]["ensembles_accuracy_pct_and_cost"]
        lead = table[FRUGALMCT][0] - max(table[vote][0] for vote in VOTES)
        if lead < -100 * SIMILAR:
            behind.append(f"{name} {lead:+.1f}")
    return f"in the paper's table 6 FrugalMCT is further below on {listed(behind)} points" if behind else ""


@claim(
    "Votes in which silent services abstain are about as accurate as FrugalMCT (a fairer form, not in the "
    "paper)",
    "appendix C, table 6",
    "FrugalMCT's highest accuracy is at most 2 points below the better of these votes on more than half of "
    "the datasets",
)
def fair_votes(results: Results) -> Finding:
    def words(method: str) -> str:
        found = leads_over_votes(results, method, FAIR_VOTES)
        close = sum(lead.mean >= -SIMILAR for lead in found.values())
        texts = [f"{name} {100 * lead.mean:+.1f}" for name, lead in found.items()]
        return f"{close} of {counted(len(found), 'dataset')}; {', '.join(texts)} points"

    found = leads_over_votes(results, ONLINE, FAIR_VOTES)
    close = sum(lead.mean >= -SIMILAR for lead in found.values())
    return Finding(for_arms(results, words), 2 * close > len(found))


@claim(
    "On COCO and ZHNER FrugalMCT is even more accurate than the ensembles",
    "appendix C, ensembles",
    "on both, FrugalMCT's highest accuracy less the better vote's has its interval above 0",
    of_data=True,
    fitted=FITTED,
)
def above_votes(results: Results) -> Finding:
    found = leads_over_votes(results, ONLINE)
    wanted = [name for name in ("COCO", "ZHNER") if name in found]
    if len(wanted) < 2:
        raise Untestable(not_run([name for name in ("COCO", "ZHNER") if name not in wanted]))

    def words(method: str) -> str:
        own = leads_over_votes(results, method)
        return ", ".join(f"{name} {in_points(own[name])}" for name in wanted)

    holds = enough_above({name: found[name] for name in wanted}, 0.0, len(wanted))
    failed = [name for name in wanted if found[name].mean <= 0]
    return Finding(for_arms(results, words), holds, undecided(holds), where=failed)


@claim(
    "The accuracies of table 6: best service, FrugalML, FrugalMCT and both votes",
    "appendix C, table 6",
    "nine in ten are within 2 points of the paper's",
    of_data=True,
    fitted="the accuracies of the services, of the votes, of FrugalML and of the best pair of services",
)
def table_6(results: Results) -> Finding:
    table = results.table("ensembles").dropna(subset=["accuracy", "paper_accuracy"])
    if table.empty:
        raise Untestable(NO_PAPER_DATASET)
    apart = (table["accuracy"] - table["paper_accuracy"]).round(9)
    near = apart.abs() <= SIMILAR
    texts = [
        f"{name_of(str(method))} {near[own.index].sum()} of {len(own)}, on average "
        f"{100 * apart[own.index].mean():+.1f} points"
        for method, own in table.groupby("method", sort=False)
    ]
    far = list(dict.fromkeys(table.loc[~near, "dataset"]))
    return Finding(f"{near.sum()} of {len(table)} within; {'; '.join(texts)}", near.mean() >= 0.9, where=far)


# ---- the case study


def _case(results: Results, part: str) -> pd.DataFrame:
    """The rows of the paper's case; on another dataset its sentences have no meaning."""
    table = results.table("case_study")
    rows = table[(table["part"] == part) & (table["dataset"] == "COCO")]
    if rows.empty:
        raise Untestable(not_run(["COCO"]))
    return rows


@claim(
    "On COCO at budget 6, FrugalMCT mostly calls Everypixel (45 %) or nobody beside the free model (22 %), "
    "at times Microsoft (32 %), and rarely Google (0.4 %)",
    "section 5, case study; figure 3a",
    "Everypixel has the most items, and every share is within 10 points of the paper's",
    of_data=True,
    one_split=True,
)
def case_shares(results: Results) -> Finding:
    rows = _case(results, "shares").set_index("name")
    shares, apart = rows["share"], (rows["share"] - rows["paper_share"]).dropna()
    if not {"SSD", "Everypixel", "Microsoft", "Google"} <= set(apart.index):
        raise Untestable("not all services of the paper's case study are in this run")
    words = ", ".join(f"{name} {100 * shares[name]:.1f} % ({100 * d:+.1f})" for name, d in apart.items())
    holds = shares.idxmax() == "Everypixel" and (apart.abs().round(9) <= NEAR_SHARE).all()
    return Finding(f"{words}, differences in points", bool(holds), where=["COCO"])


@claim(
    "The learnt p̂ produces the optimal accuracy given the budget: lower or higher ones give less",
    "section 5, case study; figure 3b and c",
    "accuracy at p̂ is within 0.1 points of the best on the curve of dual prices",
    one_split=True,
)
def best_dual_price(results: Results) -> Finding:
    table = results.table("case_study")
    lines = []
    for dataset, rows in table[table["part"] == "dual_price_curve"].groupby("dataset", sort=False):
        marked = rows.loc[rows["marked"].astype(str) == "True", "accuracy"]
        if len(marked):
            lines.append((dataset, float(rows["accuracy"].max() - marked.iloc[0])))
    if not lines:
        raise Untestable("no dual price was tried in this run")
    words = ", ".join(f"{dataset} {100 * lost:.2f} points below the best" for dataset, lost in lines)
    return Finding(words, all(lost <= 0.001 for _, lost in lines))


@claim(
    "On COCO at budget 6 FrugalMCT (0.514) is more accurate than Microsoft (0.475, at 10), FrugalML (0.481) "
    "and majority vote (0.501, at 31.01)",
    "section 5, case study; figure 3d",
    "it is the most accurate of the four, at no more than budget 6",
    of_data=True,
    one_split=True,
)
def case_comparison(results: Results) -> Finding:
    rows = _case(results, "comparison").set_index("name")[["accuracy", "cost"]]
    if not {FRUGALMCT, FRUGALML, MAJORITY} <= set(rows.index):
        raise Untestable("a method of the case study has no result")
    words = ", ".join(
        f"{name_of(name)} {row.accuracy:.3f} at {row.cost:.4g}" for name, row in rows.iterrows()
    )
    holds = rows["accuracy"].idxmax() == FRUGALMCT and rows.loc[FRUGALMCT, "cost"] <= 6 + 1e-9
    return Finding(words, bool(holds), where=["COCO"])


@claim(
    "On COCO at budget 6 the learnt p̂ is 0.006",
    "section 5, case study; figure 3b and c, caption",
    "it is 0.006 to the third decimal place",
    of_data=True,
    one_split=True,
)
def learnt_dual_price(results: Results) -> Finding:
    rows = _case(results, "dual_price_curve")
    marked = rows[rows["marked"].astype(str) == "True"].dropna(subset=["paper_dual_price"])
    if marked.empty:
        raise Untestable("the paper's case, COCO at budget 6, is not in this run")
    found, paper = (float(marked[name].iloc[0]) for name in ("dual_price", "paper_dual_price"))
    words = f"{found:.4f}, {found / paper:.1f} times the paper's"
    return Finding(words, round(found, 3) == paper, where=["COCO"])


@claim(
    "The label combiner gives higher accuracy than both the base and the add-on",
    "section 5, case study",
    "of the items for which an add-on is called, the combined answers are more accurate than either alone",
    one_split=True,
)
def combiner_above_both(results: Results) -> Finding:
    table = results.table("case_study")
    rows = table[table["part"] == "combiner"]
    if rows.empty:
        raise Untestable("no add-on was called in the case study")
    first = rows[rows["dataset"] == rows["dataset"].iloc[0]].set_index("name")["accuracy"]
    marked = rows[rows["marked"].astype(str) == "True"]["name"].iloc[0]
    words = ", ".join(f"{name} {100 * value:.1f} %" for name, value in first.items())
    return Finding(f"{words}, on {rows['dataset'].iloc[0]}", bool((first[marked] > first.drop(marked)).all()))


@claim(
    "FrugalMCT outperforms FrugalML by exploiting the label combination",
    "section 5, case study",
    "on COCO, over all budgets, it is above FrugalML, and more than half of that lead is gone once FrugalML "
    "has its combiner, interval and all",
)
def lead_by_combining(results: Results) -> Finding:
    one, plain, combined = (
        results.accuracies("COCO", method) for method in (ONLINE, FRUGALML, FRUGALML_COMBINED)
    )
    if one.empty or plain.empty or combined.empty:
        raise Untestable("COCO, FrugalML or FrugalML with the combiner is not in this run")
    lead, kept = (one - plain).mean(axis=1), (one - combined).mean(axis=1)
    found = {"lead": results.difference(lead), "most": results.difference(lead - kept, lead / 2)}
    left = in_points(results.difference(kept))
    words = f"{in_points(found['lead'])} against FrugalML, {left} against FrugalML with the combiner"
    holds = enough_above(found, 0.0, len(found))
    return Finding(words, holds, undecided(holds))


CLAIMS = (
    case_shares,
    learnt_dual_price,
    combiner_above_both,
    lead_by_combining,
    best_dual_price,
    case_comparison,
    votes_cost_more,
    fair_votes,
    above_votes,
    table_6,
)
