import numpy as np
import pandas as pd
import pytest
from scipy import stats

from frugalmct.errors import FrugalError
from frugalmct.paper.intervals import interval, paired_difference, with_intervals
from frugalmct.paper.tables import write_table

T_OF_ONE_DEGREE = 12.706204736  # of two repetitions


def test_interval_of_two_by_hand():
    found = interval([0.4, 0.6])
    assert found.mean == pytest.approx(0.5)
    # The standard deviation is 0.1 sqrt(2), so the standard error is 0.1.
    assert found.low == pytest.approx(0.5 - T_OF_ONE_DEGREE * 0.1)
    assert found.high == pytest.approx(0.5 + T_OF_ONE_DEGREE * 0.1)
    assert found.within(0, 1) == (found.mean, 0.0, 1.0)


def test_interval_of_five_uses_the_t_table():
    found = interval([1, 2, 3, 4, 5])
    assert found.high - found.mean == pytest.approx(2.776445105 * np.sqrt(2.5 / 5))


def test_one_value_has_no_interval_and_none_no_mean():
    assert interval([0.3]).mean == 0.3 and np.isnan(interval([0.3]).low)
    assert interval([0.3, np.nan]).mean == 0.3 and np.isnan(interval([0.3, np.nan]).high)
    assert np.isnan(interval([])).all() and np.isnan(interval([np.nan])).all()


def test_last_bits_and_the_sign_of_zero_do_not_show(tmp_path):
    assert interval([0.1 + 0.2 - 0.3, 0.0]) == (0.0, 0.0, 0.0)
    write_table(pd.DataFrame([interval([-1e-17]).columns("loss")]), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "loss,loss_low,loss_high\n0,,\n"


def test_half_widths_are_students():
    assert interval([1.0, 2.0, 3.0]).half == pytest.approx(4.302653 / np.sqrt(3))
    assert np.isnan(interval([1.0]).half)


def test_intervals_by_key_with_other_means():
    rows = pd.DataFrame({"key": ["b", "a", "b"], "value": [1.0, 5.0, 3.0], "cost": [2.0, 7.0, 4.0]})
    found = with_intervals(rows, ["key"], "value", "cost")
    assert found["key"].tolist() == ["b", "a"] and found["value"].tolist() == [2.0, 5.0]
    assert found["cost"].tolist() == [3.0, 7.0]
    assert found["half"][0] == pytest.approx(T_OF_ONE_DEGREE) and np.isnan(found["half"][1])


def test_a_paired_difference_by_hand():
    # Differences 0.01, 0.02, 0.03: mean 0.02, s = 0.01; half the items tested: 1/3 + 1 = 4/3.
    found = paired_difference([0.51, 0.62, 0.73], [0.50, 0.60, 0.70], test_share=0.5)
    half = 4.302652730 * 0.01 * np.sqrt(4 / 3)
    assert found == pytest.approx((0.02, 0.02 - half, 0.02 + half))
    # With a fifth tested, 1/3 + 0.2/0.8.
    fifth = paired_difference([0.51, 0.62, 0.73], [0.50, 0.60, 0.70], test_share=0.2)
    assert fifth.half == pytest.approx(4.302652730 * 0.01 * np.sqrt(1 / 3 + 1 / 4))


def test_without_overlap_it_is_the_paired_t_test():
    rng = np.random.default_rng(3)
    a, b = rng.random(12), rng.random(12)
    plain = stats.ttest_rel(a, b).confidence_interval(0.95)
    found = paired_difference(a, b, test_share=1e-12)
    assert found[1:] == pytest.approx((plain.low, plain.high))
    # Overlap only widens it, about the same mean, and the sides are alike.
    wider, turned = paired_difference(a, b, 0.5), paired_difference(b, a, 0.5)
    assert wider.mean == found.mean and wider.half == pytest.approx(found.half * np.sqrt(13))
    assert turned == pytest.approx((-wider.mean, -wider.high, -wider.low))


def test_the_correction_keeps_its_word_on_overlapping_splits():
    """Random halves of one sample: how often the interval of their mean misses the truth."""
    rng = np.random.default_rng(0)
    missed = {"corrected": 0, "plain": 0}
    for _ in range(300):
        sample = rng.normal(size=200)
        means = np.array([rng.permutation(sample)[:100].mean() for _ in range(5)])
        found = paired_difference(means, np.zeros(5), test_share=0.5)
        plain = interval(means)
        missed["corrected"] += not found.low <= 0 <= found.high
        missed["plain"] += not plain.low <= 0 <= plain.high
    # 5 % are meant; the plain interval misses several times as often.
    assert missed["corrected"] / 300 < 0.08 < 0.15 < missed["plain"] / 300


def test_repetitions_that_lack_a_value_and_misuse():
    found = paired_difference([1.0, np.nan, 3.0, 5.0], [0.5, 1.0, np.nan, 4.0], 0.5)
    assert found == paired_difference([1.0, 5.0], [0.5, 4.0], 0.5)
    one = paired_difference([0.4], [0.1], 0.5)
    assert one.mean == pytest.approx(0.3) and np.isnan(one.low) and np.isnan(one.high)
    assert np.isnan(paired_difference([], [], 0.5)).all()
    with pytest.raises(FrugalError, match="test_share is 0; it must lie between 0 and 1"):
        paired_difference([1.0], [1.0], 0)
    with pytest.raises(FrugalError, match="2 values against 1"):
        paired_difference([1.0, 2.0], [1.0], 0.5)
