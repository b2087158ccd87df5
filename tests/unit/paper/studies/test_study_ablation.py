from dataclasses import replace

import pytest
from helpers import BLOCKS

from frugalmct.model import Learning
from frugalmct.paper.stages.plus import plus_learning
from frugalmct.paper.studies import ablation
from frugalmct.paper.studies.ablation import ADDED, COLUMNS, PAPER, PARTS, READING, SECOND, WITHOUT, run
from frugalmct.paper.studies.case import Case
from frugalmct.sources import load_market
from frugalmct.splits import split
from frugalmct.strategy import Strategy

BUDGETS = [1.6, 7.0]
SERVICES = ("SSD", "Everypixel", "Microsoft")
TREES = 5


@pytest.fixture(scope="module", autouse=True)
def small_forests():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ablation, "TREES", TREES)
        yield


@pytest.fixture(scope="module")
def case():
    market = load_market("PASCAL", BLOCKS["PASCAL"], seed=8, scale=0.02).with_services(SERVICES)
    settings = {"block": BLOCKS["PASCAL"], "budgets": BUDGETS, "seed": 4}
    return Case("PASCAL", 1, market, split(len(market), seed=8), settings=settings)


@pytest.fixture(scope="module")
def table(case):
    return run(case)


def test_every_part_is_added_and_left_out_at_every_budget(table):
    assert list(table.columns) == COLUMNS
    cells = table.groupby("kind")["part"].unique()
    assert cells[ADDED].tolist() == [PAPER, *PARTS] and cells[WITHOUT].tolist() == list(PARTS)
    assert len(cells[READING]) == 1 and set(table["repetition"]) == {1}
    assert table.groupby(["kind", "part"])["budget"].apply(list).map(lambda found: found == BUDGETS).all()
    assert (table["cost"] <= table["budget"] * (1 + 1e-12)).all()


def test_the_ends_are_the_two_methods(table, case):
    """Held against what `Strategy.fit` makes of the same items."""
    added = table[table["kind"] == ADDED].set_index(["part", "budget"])
    plus = plus_learning("PASCAL", 1, BLOCKS["PASCAL"], 4)
    letter = Learning.paper(seed=plus.seed, options={"trees": TREES})
    for method, part, learning in (
        ("plus", SECOND, replace(plus, options={"trees": TREES})),
        ("paper", PAPER, letter),
    ):
        strategy = Strategy.fit(case.train, BUDGETS, method=method, learning=learning)
        for budget in BUDGETS:
            found = strategy.evaluate(case.test, budget)
            assert added.loc[(part, budget), "accuracy"] == pytest.approx(found.accuracy), (method, budget)
            assert added.loc[(part, budget), "cost"] == pytest.approx(found.cost)
