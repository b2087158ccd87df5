"""Claims about accuracy: against the best service, FrugalML, the dummy predictor and offline."""

from collections.abc import Callable

import numpy as np

from frugalmct.errors import listed
from frugalmct.paper.claims.claim import NO_PAPER_DATASET, Claim, Finding, claim, not_run
from frugalmct.paper.claims.results import (
    Lead,
    Results,
    Untestable,
    above,
    below,
    enough_above,
    for_arms,
    highest,
    in_points,
    undecided,
)
from frugalmct.paper.intervals import Interval
from frugalmct.paper.looks import name_of
from frugalmct.paper.names import (
    DAP,
    DAP_BEST_BASE,
    FRUGALML,
    FRUGALML_COMBINED,
    FRUGALML_THRESHOLDS,
    OFFLINE,
    ONLINE,
    ORACLE,
    single,
)
from frugalmct.paper.printed import printed, printed_of
from frugalmct.paper.wording import counted

UP_TO = 0.08
CLOSE = 0.01
EVEN = 0.001
"""A tenth of a point less still counts as at the same height."""
NEARLY_ALL = 0.9


@claim(
    "Up to 8 points better accuracy at the best service's cost",
    "abstract; section 1",
    "the largest mean gain is 8 points or more, to whole points, and its interval is above 0",
    of_data=True,
)
def up_to_8(results: Results) -> Finding:
    found = _known_gains(results)
    name = highest(found)
    words = for_arms(results, lambda method: _largest_gain(results, method))
    reached = found[name].mean >= UP_TO - 0.005 and above(found[name], 0.0)
    holds = None if np.isnan(found[name].low) else reached
    if holds is False and len(results.of_paper()) < len(printed()):
        return Finding(
            words, None, "the paper's gain is the largest of nine datasets, not all of which were run"
        )
    return Finding(words, holds, undecided(holds))


def _known_gains(results: Results) -> dict[str, Interval]:
    found = results.gains(ONLINE)
    if not found:
        raise Untestable("no dataset has FrugalMCT at the best service's cost")
    return found


def _largest_gain(results: Results, method: str) -> str:
    found = results.gains(method)
    if not found:
        return "no gain"
    name = highest(found)
    return f"largest gain {in_points(found[name])}, on {name}"


@claim(
    "On COCO and ZHNER more than 5 points better at the best service's cost",
    "section 5, trade-offs",
    "the gain's interval is above 5 points on both",
    of_data=True,
)
def over_5_points(results: Results) -> Finding:
    wanted, known = ["COCO", "ZHNER"], _known_gains(results)
    if absent := [name for name in wanted if name not in known]:
        raise Untestable(not_run(absent))

    def words(method: str) -> str:
        gains = results.gains(method)
        return ", ".join(f"{name} {in_points(gains[name])}" for name in wanted if name in gains)

    gains = results.gains(ONLINE)
    found = {name: gains[name] for name in gains if name in wanted}
    holds = enough_above(found, 0.05, len(wanted))
    failed = [name for name in wanted if found[name].mean <= 0.05]
    return Finding(for_arms(results, words), holds, undecided(holds), where=failed)


@claim(
    "FrugalMCT often achieves higher accuracy than any service it calls",
    "section 1; section 5, trade-offs; figure 1b",
    "at its best budget it is above the best service, interval and all, on more than half of the datasets",
    fitted="the accuracies of the services and of the best pair of services",
)
def above_any_service(results: Results) -> Finding:
    def leads(method: str) -> dict[str, Interval]:
        found = {name: _over_best_service(results, name, method) for name in results.datasets}
        return {name: lead for name, lead in found.items() if lead is not None}

    def words(method: str) -> str:
        found = leads(method)
        count = sum(above(lead, 0.0) for lead in found.values())
        low = min(found, key=lambda name: found[name].mean)
        return f"{count} of {counted(len(found), 'dataset')}, least on {low} ({in_points(found[low])})"

    found = leads(ONLINE)
    if not found:
        raise Untestable("FrugalMCT has no result in this run")
    holds = enough_above(found, 0.0, len(found) // 2 + 1)
    return Finding(for_arms(results, words), holds, undecided(holds))


def _over_best_service(results: Results, dataset: str, method: str) -> Interval | None:
    best, own = results.by_dataset[dataset].best, results.at_its_best(dataset, method)
    if best is None or own is None:
        return None
    service = results.accuracies(dataset, single(best.name)).iloc[:, 0]
    return results.difference(own.accuracy - service)


def at_or_above(sentence: str, place: str, other: str) -> Claim:
    """A claim that FrugalMCT matches or beats another method at the same budgets."""
    test = (
        "at or above it, to a tenth of a point, at 90 % of all budgets, and on no dataset is the interval of "
        "the mean over budgets below 0"
    )
    return claim(sentence, place, test)(_against(other))


def _against(other: str) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        leads = results.leads(ONLINE, other)
        ahead, budgets = _at_or_above(leads)
        lost = [name for name, lead in leads.items() if below(lead.mean, 0.0)]
        unsure = any(np.isnan(lead.mean.low) for lead in leads.values())
        holds = None if unsure and not lost else ahead >= NEARLY_ALL * budgets and not lost
        words = for_arms(results, lambda method: _lead_words(results.leads(method, other)))
        note = f"significantly below {name_of(other)} on {listed(lost)}" if lost else ""
        return Finding(words, holds, undecided(holds, note))

    return check


def _at_or_above(leads: dict[str, Lead]) -> tuple[int, int]:
    """At how many budgets, and of how many."""
    counts = [((lead.at >= -EVEN - 1e-9).sum(), len(lead.at)) for lead in leads.values()]
    return sum(int(ahead) for ahead, _ in counts), sum(budgets for _, budgets in counts)


def _lead_words(leads: dict[str, Lead]) -> str:
    ahead, budgets = _at_or_above(leads)
    better = sum(above(lead.mean, 0.0) for lead in leads.values())
    low = min(leads, key=lambda name: leads[name].mean.mean)
    return (
        f"at {ahead} of {budgets} budgets; significantly above on {better} of "
        f"{counted(len(leads), 'dataset')}; least on {low}, {in_points(leads[low].mean)}"
    )


beats_frugalml = at_or_above(
    "FrugalMCT matches or beats FrugalML at the same budget",
    "section 1; section 5, trade-offs; figure 4",
    FRUGALML,
)
beats_dap = at_or_above(
    "FrugalMCT matches or beats its ablation with a dummy predictor (DAP)",
    "section 5, trade-offs; figure 4; appendix C, predictors",
    DAP,
)
beats_frugalml_thresholds = at_or_above(
    "FrugalMCT matches or beats FrugalML with a θ per service (a fairer form, not in the paper)",
    "figure 4",
    FRUGALML_THRESHOLDS,
)
beats_frugalml_combined = at_or_above(
    "Label sets with scores decide better than a quality score alone: FrugalMCT matches or beats FrugalML "
    "with FrugalMCT's combiner (a fairer form, not in the paper)",
    "section 2, cascades; figure 4",
    FRUGALML_COMBINED,
)
beats_dap_best_base = at_or_above(
    "FrugalMCT matches or beats DAP with the best base for each budget (a fairer form, not in the paper)",
    "figure 4",
    DAP_BEST_BASE,
)


@claim(
    "Online FrugalMCT matches the offline performance in all the experiments",
    "section 4.3; section 5, trade-offs; figure 4, caption",
    "on every dataset and budget the means are within 1 point",
)
def online_as_offline(results: Results) -> Finding:
    leads = results.leads(ONLINE, OFFLINE)
    worst = max(leads, key=lambda name: leads[name].at.abs().max())
    lead = leads[worst]
    budget = lead.at.abs().idxmax()
    outside = [name for name, own in leads.items() if (own.at.abs() > CLOSE + 1e-8).any()]
    words = (
        f"largest difference {100 * lead.at[budget]:+.2f} points, on {worst} at budget {budget:g}; mean over "
        f"budgets there {in_points(lead.mean)}"
    )
    note = f"outside on {listed(outside)}" if outside else ""
    return Finding(words, not outside, note, where=outside)


@claim(
    "The predictor need not be perfect: on PASCAL and CONLL, with an RMSE of 0.28 and 0.29, FrugalMCT is "
    "consistently more accurate than FrugalML",
    "section 5, accuracy predictors",
    "on both the interval of the mean over budgets is above 0",
)
def despite_errors(results: Results) -> Finding:
    leads = results.leads(ONLINE, FRUGALML)
    wanted = [name for name in ("PASCAL", "CONLL") if name in leads]
    if not wanted:
        raise Untestable(not_run(["PASCAL", "CONLL"]))

    def words(method: str) -> str:
        own = results.leads(method, FRUGALML)
        return ", ".join(f"{name} {in_points(own[name].mean)}" for name in wanted)

    holds = enough_above({name: leads[name].mean for name in wanted}, 0.0, len(wanted))
    missing = "" if len(wanted) == 2 else "only one of the two was run"
    return Finding(for_arms(results, words), holds, undecided(holds, missing))


@claim(
    "Services have complementary strengths and weaknesses",
    "section 1, contributions",
    "with true accuracies known, the best choice for each item is above the best service on every dataset, "
    "interval and all",
    fitted="the accuracy of the best service for each item",
)
def complementary(results: Results) -> Finding:
    leads = {name: _over_best_service(results, name, ORACLE) for name in results.datasets}
    found = {name: lead for name, lead in leads.items() if lead is not None}
    if not found:
        raise Untestable("the oracle has no result in this run")
    low = min(found, key=lambda name: found[name].mean)
    holds = enough_above(found, 0.0, len(found))
    clear = sum(above(lead, 0.0) for lead in found.values())
    words = f"{clear} of {counted(len(found), 'dataset')}; least on {low}, {in_points(found[low])}"
    return Finding(words, holds, undecided(holds))


@claim(
    "The accuracies of the best services in table 4",
    "table 4",
    "every one is within 2 points of the paper's",
    of_data=True,
    fitted="the services' accuracies",
)
def best_services(results: Results) -> Finding:
    told = {name: printed_of(name)["paper"]["best_api"]["accuracy_pct"] / 100 for name in results.of_paper()}
    found = {name: results.by_dataset[name].best for name in told}
    apart = {name: best.accuracy - told[name] for name, best in found.items() if best is not None}
    if not apart:
        raise Untestable(NO_PAPER_DATASET)
    far = [name for name, difference in apart.items() if abs(round(difference, 9)) > 0.02]
    texts = [f"{name} {100 * (told[name] + d):.1f} % ({100 * d:+.1f})" for name, d in apart.items()]
    words = f"{len(apart) - len(far)} of {len(apart)} within; {', '.join(texts)}, differences in points"
    return Finding(words, not far, where=far)


CLAIMS = (
    up_to_8,
    above_any_service,
    complementary,
    beats_frugalml,
    beats_frugalml_thresholds,
    beats_frugalml_combined,
    beats_dap,
    beats_dap_best_base,
    online_as_offline,
    over_5_points,
    despite_errors,
    best_services,
)
