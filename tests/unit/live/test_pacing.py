"""The dual price by the money left: held in the band, corrected outside it, and what that is worth."""

import importlib.util
import math
import sys

import numpy as np
import pytest
from helpers import ROOT
from hypothesis import given
from hypothesis import strategies as st
from released import real_folder

from frugalmct.errors import FrugalError
from frugalmct.live.pacing import Pacer, money_ends

MONEY = st.floats(0, 1e6)
ITEMS = st.floats(0.5, 1e5)


def test_worked_out_by_hand() -> None:
    pacer = Pacer(0.004, rate=10, base_cost=6, band=(0.05, 0.5), gain=6)
    assert pacer.update(1000, 100) == 0.004  # exactly to plan
    assert pacer.update(600 + 400 * 0.96, 100) == 0.004  # 4 % too little: within the band
    assert pacer.update(600 + 400 * 0.75, 100) == pytest.approx(0.004 * math.exp(6 * 0.20))
    assert pacer.update(600 + 400 * 1.4, 100) == 0.004
    assert pacer.update(600 + 400 * 1.75, 100) == pytest.approx(0.004 * math.exp(-6 * 0.25))


def test_fixed_stays() -> None:
    pacer = Pacer(0.004, rate=10, base_cost=6, pace="fixed")
    assert pacer.update(0, 100) == pacer.update(1e9, 100) == 0.004


def test_a_plan_with_price_nothing_can_still_be_corrected() -> None:
    pacer = Pacer(0.0, rate=10, base_cost=6)
    assert pacer.update(1000, 100) == 0
    assert pacer.update(600 + 200, 100) > 0.01 / 4


@given(MONEY, MONEY, ITEMS, st.floats(0, 1))
def test_less_money_never_lowers_the_price(less: float, more: float, items: float, price: float) -> None:
    less, more = sorted((less, more))
    pacer = Pacer(price, rate=10, base_cost=6)
    high, low = pacer.update(less, items), pacer.update(more, items)
    assert 0 <= low <= high < math.inf


@given(st.lists(st.tuples(MONEY, ITEMS), min_size=1, max_size=5))
def test_nothing_is_remembered(looks: list[tuple[float, float]]) -> None:
    """A process that starts now has the price of one that has run all along."""
    old = Pacer(0.004, rate=10, base_cost=6)
    prices = [old.update(*look) for look in looks]
    assert Pacer(0.004, rate=10, base_cost=6).update(*looks[-1]) == prices[-1]


def test_unknown_items_leave_the_price() -> None:
    pacer = Pacer(0.004, rate=10, base_cost=6)
    assert pacer.update(0, None) == pacer.update(0, 0) == 0.004


def test_the_base_of_later_items_is_kept() -> None:
    pacer = Pacer(0.004, rate=10, base_cost=6)
    assert pacer.affords(10, money_left=70, items_left=10)
    assert not pacer.affords(10.1, money_left=70, items_left=10)
    assert pacer.affords(70, money_left=70, items_left=None)


def test_when_the_money_ends() -> None:
    assert money_ends(now=200, since=100, spent=20, left=40) == 400
    assert money_ends(now=200, since=100, spent=0, left=40) is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pace": "quick"}, "pace is 'quick'"),
        ({"band": (0.1,)}, "band has 1 numbers"),
        ({"band": (-0.1, 0.1)}, "band is -0.1"),
        ({"gain": math.nan}, "gain is nan"),
        ({"base_cost": "6"}, "base_cost is '6'"),
    ],
)
def test_mistakes_are_named(options: dict, said: str) -> None:
    with pytest.raises(FrugalError, match=said):
        Pacer(0.1, 10.0, **options)


@pytest.mark.slow
def test_on_recorded_answers() -> None:
    """What docs/pacing.md says of budget 10, on one repetition."""
    folder = real_folder("FrugalMCT", "PASCAL")
    path = ROOT / "benchmarks" / "bench_pacing.py"
    spec = importlib.util.spec_from_file_location("bench_pacing", path)
    bench = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = bench
    spec.loader.exec_module(bench)
    source = {"kind": "frugalmct", "path": str(folder)}
    market = bench.load_market("PASCAL", {"task": "MIC", "source": source, "prices": bench.PRICES})
    rows = list(bench.measure(market, 0, [10.0]))
    assert all(row["cost"] <= 10 + 1e-9 for row in rows)
    table = {line["case"]: line for line in bench.summary(rows)}
    for name in ("by truth", "by estimate"):
        hard = table[f"hard half alone ({name})"]
        assert hard["adaptive"] >= hard["offline"] - 1.0
        assert hard["fixed"] < hard["offline"] - 3.0  # else the test shows nothing
        easy_first = table[f"usual mix, easy half first ({name})"]
        assert easy_first["adaptive"] > easy_first["feedback"]
    usual = table["usual mix, random order"]
    assert abs(usual["adaptive"] - usual["fixed"]) <= 0.2
    assert np.isfinite([line["offline"] for line in table.values()]).all()
