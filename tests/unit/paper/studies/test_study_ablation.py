from dataclasses import replace

import pytest
from helpers import BLOCKS

from frugalmct.model import Learning
from frugalmct.paper.stages.plus import plus_learning
from frugalmct.paper.studies import ablation
from frugalmct.paper.studies.ablation import (
    ABSTENTION,
    ADDED,
    COLUMNS,
    FURTHER,
    PAPER,
    PARTS,
    READING,
    SUMMARY,
    WITHOUT,
    run,
)
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


def test_rows_are_what_whole_strategies_reach(table, case):
    """Held against what `Strategy.fit` makes of the same items, which shares nothing with other rows."""
    rows = table.set_index(["kind", "part", "budget"])
    plus = replace(plus_learning("PASCAL", 1, BLOCKS["PASCAL"], 4), options={"trees": TREES})
    letter = Learning.paper(seed=plus.seed, options={"trees": TREES})
    for method, kind, part, learning in (
        ("plus", ADDED, FURTHER, plus),
        ("paper", ADDED, PAPER, letter),
        ("paper", ADDED, ABSTENTION, replace(letter, abstain=True)),
        ("plus", WITHOUT, SUMMARY, replace(plus, summary=False)),
    ):
        strategy = Strategy.fit(case.train, BUDGETS, method=method, learning=learning)
        for budget in BUDGETS:
            found, row = strategy.evaluate(case.test, budget), rows.loc[(kind, part, budget)]
            assert row["accuracy"] == pytest.approx(found.accuracy), (kind, part, budget)
            assert row["cost"] == pytest.approx(found.cost)
