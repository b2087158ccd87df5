"""What every baseline promises, whichever it is; and FrugalML on recorded answers of real services."""

from collections.abc import Callable
from functools import cache
from pkgutil import iter_modules
from typing import NamedTuple

import numpy as np
import pytest
from helpers import expected_means
from numpy.typing import NDArray
from released import real_folder

from frugalmct import baselines
from frugalmct.baselines.frugalml import FrugalML, item_costs
from frugalmct.baselines.mixture import best_base_mix, random_mix
from frugalmct.baselines.quality import quality_scores
from frugalmct.baselines.thresholds import fit_thresholds, with_thresholds
from frugalmct.baselines.votes import WeightedMajorityVote, majority_vote, vote_cost
from frugalmct.combine import fit_market_combiners
from frugalmct.market import LabelMarket, Market
from frugalmct.select import Problem, solve
from frugalmct.sparse import label_matrix, take_rows
from frugalmct.splits import split

BASE = 0
BUDGETS = (0.01, 3.0, 6.0, 9.0, 40.0)


class Outcome(NamedTuple):
    """What was decided or answered, as plain values, and what each item paid."""

    decided: list
    cost: NDArray[np.float64]


def run_frugalml(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    strategy = FrugalML().fit(quality_scores(train), train.service_accuracy(), train.prices)
    choices = strategy.decide(quality_scores(test), budget, seed, never_over=True)
    return Outcome([choices.base.tolist(), choices.addon.tolist()], item_costs(*choices, test.prices))


def run_frugalml_thresholds(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    thresholds = fit_thresholds(train)
    return run_frugalml(with_thresholds(train, thresholds), with_thresholds(test, thresholds), budget, seed)


def run_frugalml_combined(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    strategy = FrugalML().fit(quality_scores(train), combined_accuracy(train), train.prices)
    choices = strategy.decide(quality_scores(test), budget, seed, never_over=True)
    return Outcome([choices.base.tolist(), choices.addon.tolist()], item_costs(*choices, test.prices))


def run_dap_best_base(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    means = {base: table.mean(axis=0) for base, table in combined_accuracy(train).items()}
    choices = best_base_mix(means, test.prices, budget, len(test), seed)
    return Outcome([choices.base.tolist(), choices.addon.tolist()], item_costs(*choices, test.prices))


@cache
def combined_accuracy(train: Market) -> dict[int, NDArray[np.float64]]:
    bases = range(len(train.services))
    return {base: train.choice_accuracy(fit_market_combiners(train, base)) for base in bases}


def run_majority_vote(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    return _voted(majority_vote(test), test)


def run_majority_vote_abstaining(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    return _voted(majority_vote(test, abstain=True), test)


def run_weighted_majority_vote_abstaining(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    return _voted(WeightedMajorityVote(abstain=True).fit(train).answer(test), test)


def run_weighted_majority_vote(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    return _voted(WeightedMajorityVote().fit(train).answer(test), test)


def _voted(answer, test: Market) -> Outcome:
    parts = [part.tolist() for part in (answer.indptr, answer.indices, answer.data)]
    return Outcome(parts, np.full(len(test), vote_cost(test)))


def run_random_mix(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    means = train.choice_accuracy(fit_market_combiners(train, BASE)).mean(axis=0)
    choices = random_mix(means, test.prices, BASE, budget, len(test), seed)
    return Outcome(choices.tolist(), item_costs(np.full(len(test), BASE), choices, test.prices))


def run_oracle(train: Market, test: Market, budget: float, seed: int) -> Outcome:
    truth = test.choice_accuracy(fit_market_combiners(train, BASE))
    choices = solve(Problem(truth, test.prices, BASE, budget)).choices
    return Outcome(choices.tolist(), item_costs(np.full(len(test), BASE), choices, test.prices))


CASES: dict[str, Callable[[Market, Market, float, int], Outcome]] = {
    "dap_best_base": run_dap_best_base,
    "frugalml": run_frugalml,
    "frugalml_combined": run_frugalml_combined,
    "frugalml_thresholds": run_frugalml_thresholds,
    "majority_vote": run_majority_vote,
    "majority_vote_abstaining": run_majority_vote_abstaining,
    "oracle": run_oracle,
    "random_mix": run_random_mix,
    "weighted_majority_vote": run_weighted_majority_vote,
    "weighted_majority_vote_abstaining": run_weighted_majority_vote_abstaining,
}
WITHIN_BUDGET = [name for name in CASES if "vote" not in name]
NEVER_SEES_THE_TRUTH = [name for name in CASES if name != "oracle"]


@pytest.fixture(scope="module")
def halves() -> tuple[Market, Market]:
    rng = np.random.default_rng(0)
    items, labels, skill = 400, 9, (0.5, 0.65, 0.7, 0.85)
    truth = rng.random((items, labels)) < 0.25

    def sets(given, scores):
        rows, columns = np.nonzero(given)
        starts = np.searchsorted(rows, np.arange(items + 1))
        return label_matrix(starts, columns, scores[rows, columns], labels)

    answers = []
    for right in skill:
        given = np.where(rng.random(truth.shape) < right, truth, rng.random(truth.shape) < 0.2)
        agrees = np.where(given == truth, 0.3, 0.0)
        answers.append(sets(given, (0.7 * rng.random(truth.shape) + agrees).round(2)))
    market = LabelMarket(
        name="halves",
        task="MIC",
        items=np.array([f"i{i}" for i in range(items)]),
        labels=np.array([f"l{i}" for i in range(labels)]),
        services=("base", "cheap", "middle", "dear"),
        prices=np.array([0.01, 6.0, 10.0, 15.0]),
        truth=sets(truth, np.ones(truth.shape)),
        scores=tuple(answers),
    )
    return market.subset(np.arange(200)), market.subset(np.arange(200, 400))


def test_every_module_of_baselines_is_tested():
    tested = {FrugalML, majority_vote, WeightedMajorityVote, random_mix, best_base_mix, with_thresholds}
    # Parts of the others, and routers of calls, which have no labels to answer with: test_routers has those.
    others = {"hull", "quality", "routers"}
    modules = {module.name for module in iter_modules(baselines.__path__)} - others
    assert modules == {baseline.__module__.rpartition(".")[2] for baseline in tested}


@pytest.mark.parametrize("name", CASES)
def test_same_seed_same_decisions(name, halves):
    first, again = (CASES[name](*halves, 6.0, 3) for _ in range(2))
    assert first.decided == again.decided
    assert np.array_equal(first.cost, again.cost)


@pytest.mark.parametrize("name", NEVER_SEES_THE_TRUTH)
def test_true_labels_of_the_test_items_change_nothing(name, halves):
    train, test = halves
    shuffled = take_rows(test.truth, np.random.default_rng(1).permutation(len(test)))
    changed = test.subset(np.arange(len(test)))
    object.__setattr__(changed, "truth", shuffled)
    for budget in BUDGETS:
        assert CASES[name](train, test, budget, 0).decided == CASES[name](train, changed, budget, 0).decided


@pytest.mark.parametrize("name", WITHIN_BUDGET)
@pytest.mark.parametrize("budget", BUDGETS)
def test_never_over_budget(name, budget, halves):
    for seed in range(3):
        assert CASES[name](*halves, budget, seed).cost.mean() <= budget * (1 + 1e-11)


@pytest.mark.parametrize("name", CASES)
def test_every_item_has_a_cost(name, halves):
    cost = CASES[name](*halves, 6.0, 0).cost
    assert cost.shape == (len(halves[1]),)
    assert np.all(cost >= halves[1].prices.min())


class Recorded(NamedTuple):
    """Scores and correctness (items, services) of one-label answers, and the prices."""

    quality: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    costs: NDArray[np.float64]


@pytest.fixture(scope="module")
def rafdb() -> Recorded:
    folder = real_folder("FrugalML", "RAFDB")
    meta = [line.split(",") for line in (folder / "meta.csv").read_text("utf-8").splitlines()[1:]]

    def column(index: str, what: str) -> NDArray[np.float64]:
        return np.loadtxt(folder / f"Model{index}_{what}.txt")

    return Recorded(
        np.column_stack([column(row[0], "Confidence") for row in meta]),
        np.column_stack([column(row[0], "Reward") for row in meta]),
        np.array([float(row[2]) for row in meta]),
    )


# Test accuracy that the exact hull, one superclass and any base reaches, as a mean of five splits.
RAFDB_REFERENCE = {1: 0.641, 5: 0.715, 8: 0.728, 10: 0.734}


def test_frugalml_on_recorded_answers_reaches_the_reference(rafdb):
    quality, accuracy, costs = rafdb
    reached = {budget: [] for budget in RAFDB_REFERENCE}
    spent = {budget: [] for budget in RAFDB_REFERENCE}
    for seed in range(5):
        parts = split(len(quality), seed=seed, dataset="RAFDB")
        train, test = parts.whole_train, parts.test
        strategy = FrugalML().fit(quality[train], accuracy[train], costs)
        for budget in RAFDB_REFERENCE:
            learnt = expected_means(strategy.expected(quality[train], budget), accuracy[train], costs)
            assert learnt.cost <= budget * (1 + 1e-12)
            means = expected_means(strategy.expected(quality[test], budget), accuracy[test], costs)
            reached[budget].append(means.accuracy)
            spent[budget].append(means.cost)
            held = strategy.decide(quality[test], budget, seed, never_over=True)
            assert item_costs(*held, costs).mean() <= budget * (1 + 1e-11)
    for budget, reference in RAFDB_REFERENCE.items():
        assert np.mean(reached[budget]) == pytest.approx(reference, abs=0.01)
        assert np.mean(spent[budget]) == pytest.approx(budget, rel=0.02)
