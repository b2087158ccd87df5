"""Every table on inputs small enough to work out by hand."""

import numpy as np
import pandas as pd
import pytest

from frugalmct import evaluate
from frugalmct.results import (
    BUDGET_COLUMNS,
    ENSEMBLE_COLUMNS,
    IDEAL,
    ONLINE,
    SAVINGS_COLUMNS,
    SINGLE,
    TRADEOFF_COLUMNS,
    Curve,
    beyond,
    beyond_columns,
    cheapest_budgets,
    cheapest_of_the_best,
    collect_tradeoff,
    cost_savings,
    ensembles,
    interval,
    largest_overrun,
)
from frugalmct.tables import read_table, write_table

T_OF_ONE_DEGREE = 12.706204736  # of two repetitions
SERVICES = {"free": (0.4, 0.0), "fair": (0.5, 4.0), "dear": (0.7, 10.0)}


def row(method, budget, accuracy, cost=None, *, dataset="own", seed=0, status="ok"):
    cost = budget if cost is None else cost
    return {
        "dataset": dataset, "method": method, "budget": budget, "seed": seed, "accuracy": accuracy,
        "cost": cost, "status": status,
    }  # fmt: skip


def long_table(*rows):
    return pd.DataFrame(rows, columns=TRADEOFF_COLUMNS)


def singles(seed=0, dataset="own", shift=0.0, services=SERVICES):
    return [
        row(SINGLE + name, price, accuracy + shift, seed=seed, dataset=dataset)
        for name, (accuracy, price) in services.items()
    ]


def online(*points, seed=0, dataset="own", method=ONLINE):
    return [row(method, budget, accuracy, seed=seed, dataset=dataset) for budget, accuracy in points]


def only_row(table):
    assert len(table) == 1
    return table.iloc[0]


def test_names_are_those_of_the_sweeps():
    assert TRADEOFF_COLUMNS == evaluate.COLUMNS
    assert SINGLE == evaluate.SINGLE
    assert {ONLINE, "frugalmct_offline", "oracle", "dap", "random_mix"} == set(evaluate.METHODS)


# ---- intervals


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


# ---- curves


def test_curve_is_the_running_best():
    curve = Curve.of([3, 1, 2, 2], [0.6, 0.5, 0.4, 0.45])
    assert curve.cost.tolist() == [1, 2, 3]
    assert curve.accuracy.tolist() == [0.5, 0.5, 0.6]
    assert curve.cheapest(0.55) == pytest.approx(2.5), "the running best is flat up to 2"
    assert curve.accuracy_at(2.5) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("target", "cost"),
    [(0.1, 1.0), (0.5, 1.0), (0.6, 3.0), (0.6 + 1e-12, 3.0), (0.51, 1.2), (0.61, np.nan), (np.nan, np.nan)],
)
def test_cheapest_cost_of_a_target(target, cost):
    assert Curve.of([1, 3], [0.5, 0.6]).cheapest(target) == pytest.approx(cost, nan_ok=True)


def test_of_equal_accuracies_the_cheapest_counts():
    assert Curve.of([1, 2, 5], [0.3, 0.6, 0.6]).cheapest(0.6) == pytest.approx(2)


def test_no_points_reach_nothing():
    empty = Curve.of([], [])
    assert np.isnan([empty.cheapest(0.1), empty.accuracy_at(3), empty.mean_accuracy(0, 1)]).all()


def test_nothing_is_known_below_the_cheapest_point_and_nothing_gained_beyond_the_dearest():
    curve = Curve.of([1, 3], [0.5, 0.6])
    assert np.isnan(curve.accuracy_at(0.9))
    assert curve.accuracy_at(50) == 0.6


def test_area_by_hand():
    curve = Curve.of([1, 3], [0.5, 0.7])
    assert curve.mean_accuracy(1, 3) == pytest.approx(0.6)
    # 0.6 on average up to 3, then 0.7 up to 5.
    assert curve.mean_accuracy(1, 5) == pytest.approx(0.65)
    assert curve.mean_accuracy(2, 3) == pytest.approx(0.65)
    assert np.isnan(curve.mean_accuracy(0.5, 3)) and np.isnan(curve.mean_accuracy(3, 3))


# ---- the long table


def test_collected_rows_keep_their_order_and_the_contract_comes_first():
    first = long_table(row("b", 1, 0.5) | {"base": "x", "price": 0.1})
    second = long_table(row("a", 1, np.nan, status="stopped"))
    table = collect_tradeoff([first, second])
    assert table.columns.tolist()[:7] == ["dataset", "method", "budget", "seed", "accuracy", "cost", "status"]
    assert table["method"].tolist() == ["b", "a"]
    assert table["base"].tolist()[0] == "x" and pd.isna(table["base"][1]) and pd.isna(table["accuracy"][1])


# ---- cost savings


def test_savings_between_two_budgets():
    table = long_table(*singles(), *online((0, 0.4), (2, 0.6), (4, 0.8)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["best_service"], found["best_accuracy"], found["best_cost"]) == ("dear", 0.7, 10)
    assert found["frugalmct_cost"] == pytest.approx(3) and found["saving"] == pytest.approx(0.7)
    assert (found["task"], found["reached"], found["repetitions"]) == ("MIC", 1, 1)
    assert found[["saving_low", "saving_high", "frugalmct_cost_low", "paper_saving", "reason"]].isna().all()


def test_savings_are_meant_over_repetitions_each_with_its_own_target():
    table = long_table(
        *singles(0), *online((0, 0.4), (2, 0.6), (4, 0.8)),
        *singles(1, shift=0.05), *online((0, 0.45), (10, 0.95), seed=1),
    )  # fmt: skip
    found = only_row(cost_savings(table, {"own": "MIC"}))
    # Costs 3 (for 0.7) and 6 (for 0.75).
    assert found["frugalmct_cost"] == pytest.approx(4.5) and found["saving"] == pytest.approx(0.55)
    assert found["best_accuracy"] == pytest.approx(0.725)
    assert found["frugalmct_cost_high"] == pytest.approx(4.5 + T_OF_ONE_DEGREE * 1.5)
    assert found["frugalmct_cost_low"] == 0 and found["saving_high"] == 1, "cut where no cost can be"


def test_savings_that_are_not_reached_are_empty_with_a_reason():
    table = long_table(*singles(), *online((0, 0.4), (10, 0.6)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert pd.isna(found["saving"]) and found["reached"] == 0
    assert found["reason"] == "the best service's accuracy is not reached"
    table = long_table(*singles(0), *singles(1), *online((0, 0.4), (10, 0.6)), *online((5, 0.7), seed=1))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["frugalmct_cost"], found["reached"]) == (5, 1)
    assert found["reason"] == "the best service's accuracy is not reached in 1 of 2 repetitions"


def test_of_equally_good_services_the_cheaper_is_the_best():
    services = {"b": (0.7, 9.0), "a": (0.7, 5.0), "c": (0.7, 5.0)}
    table = long_table(*singles(services=services), *online((2.5, 0.7)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert (found["best_service"], found["saving"]) == ("a", 0.5)


def test_a_free_best_service_leaves_nothing_to_save():
    table = long_table(*singles(services={"free": (0.7, 0.0)}), *online((0.0, 0.7)))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert found["frugalmct_cost"] == 0 and pd.isna(found["saving"])
    assert found["reason"] == "the best service costs nothing"


def test_savings_stand_beside_the_papers_and_a_dataset_without_rows_has_its_row():
    table = long_table(*singles(dataset="PASCAL"), *online((3, 0.7), dataset="PASCAL"))
    found = cost_savings(table, {"own": "NER", "PASCAL": "MIC"})
    assert found.columns.tolist() == SAVINGS_COLUMNS
    assert found["dataset"].tolist() == ["own", "PASCAL"]
    assert found["reason"][0] == "no result of any single service"
    paper = found.loc[1, ["paper_accuracy", "paper_best_cost", "paper_cost", "paper_saving"]]
    assert paper.tolist() == pytest.approx([0.748, 10, 1.4, 0.86])


def test_failed_rows_are_gaps_and_tell_their_status():
    table = long_table(*singles(), row(ONLINE, 3, np.nan, np.nan, status="out of memory"))
    found = only_row(cost_savings(table, {"own": "MIC"}))
    assert pd.isna(found["frugalmct_cost"])
    assert found["reason"] == f"no result of {ONLINE} (out of memory)"


# ---- ensembles


def test_the_cheapest_budget_among_the_best():
    rows = long_table(*online((1, 0.5), (4, 0.7996), (8, 0.8), (9, 0.8)))
    assert cheapest_of_the_best(rows) == 4
    rows = long_table(*online((1, 0.5), (4, 0.7994), (8, 0.8), (9, 0.8)))
    assert cheapest_of_the_best(rows) == 8


def test_the_choice_of_budget_is_by_means():
    rows = [*online((1, 0.9), (2, 0.8)), *online((1, 0.5), (2, 0.8), seed=1)]
    rows += [*singles(0), *singles(1)]
    found = ensembles(long_table(*rows), ["own"]).set_index("method").loc["frugalmct"]
    assert (found["budget"], found["cost"], found["accuracy"]) == (2, 2, pytest.approx(0.8))
    assert found["accuracy_low"] == pytest.approx(0.8) and found["repetitions"] == 2


def test_ensembles_have_a_row_for_every_method():
    rows = [
        *singles(dataset="COCO"), *online((6, 0.6), dataset="COCO"),
        row("majority_vote", 14, 0.5, dataset="COCO"),
        row("frugalml", 6, np.nan, status="failed", dataset="COCO"),
    ]  # fmt: skip
    found = ensembles(long_table(*rows), ["COCO", "own"])
    assert found.columns.tolist() == ENSEMBLE_COLUMNS and len(found) == 10
    coco = found[found["dataset"] == "COCO"].set_index("method")
    assert coco.loc["best_single", "service"] == "dear"
    assert coco["cost"].tolist()[:1] == [10] and coco.loc["majority_vote", "cost"] == 14
    assert coco.loc["frugalml", "reason"] == "no result of frugalml (failed)"
    assert coco.loc["weighted_majority_vote", "reason"] == "no result of weighted_majority_vote"
    assert coco["paper_accuracy"].tolist() == pytest.approx([0.475, 0.493, 0.54, 0.501, 0.528])
    assert coco["paper_cost"].tolist() == [10, 8, 12, 31.01, 31.01]
    own = found[found["dataset"] == "own"]
    assert own["paper_accuracy"].isna().all() and own["reason"].notna().all()


# ---- past the paper


def whole_sweep(seed=0):
    """Budgets 0, 5 and 10; each method a constant step below the one that knows more."""
    methods = {IDEAL: 0.9, "oracle": 0.8, "frugalmct_offline": 0.72, ONLINE: 0.7, "dap": 0.6}
    methods |= {"random_mix": 0.5, "frugalml": 0.55}
    rows = singles(seed)
    for method, top in methods.items():
        rows += online((0, top - 0.2), (5, top), (10, top), seed=seed, method=method)
    return rows


def test_beyond_by_hand():
    found = only_row(beyond(long_table(*whole_sweep()), {"own": "MIC"}))
    assert found["gain_at_best_cost"] == pytest.approx(0)
    assert (found["area_from"], found["area_to"]) == (0, 10)
    # Rising by 0.2 over the first half, flat over the second.
    assert found["area_online"] == pytest.approx(0.65) and found["area_oracle"] == pytest.approx(0.75)
    losses = found[["loss_combiner", "loss_predictor", "loss_price", "gap_to_oracle"]]
    assert losses.tolist() == pytest.approx([0.1, 0.08, 0.02, 0.1])
    assert found["budget_used_online"] == 1 and found["largest_overrun_online"] == 0
    assert pd.isna(found["area_dap_low"]) and pd.isna(found["reason"])


def test_beyond_has_intervals_over_repetitions():
    rows = [*whole_sweep(0), *whole_sweep(1)]
    found = only_row(beyond(long_table(*rows), {"own": "MIC"}))
    assert found["area_online_low"] == pytest.approx(0.65) == found["area_online_high"]
    assert found["repetitions"] == 2


def test_beyond_says_what_is_missing():
    rows = [entry for entry in whole_sweep() if entry["method"] not in (IDEAL, "frugalml")]
    found = beyond(long_table(*rows), {"own": "MIC", "none": "NER"})
    assert found.columns.tolist() == beyond_columns()
    assert found["reason"][0] == f"no result of {IDEAL}; no result of frugalml"
    assert pd.isna(found["loss_combiner"][0]) and found["loss_price"][0] == pytest.approx(0.02)
    assert found["reason"][1] == f"no result of any single service; no result of {ONLINE}"


def test_a_best_service_below_all_budgets_has_no_gain_and_no_area():
    rows = [*singles(services={"only": (0.7, 1.0)}), *online((2, 0.7), (3, 0.8))]
    found = only_row(beyond(long_table(*rows), {"own": "MIC"}))
    assert pd.isna(found["gain_at_best_cost"]) and pd.isna(found["area_online"])
    assert "the best service is cheaper than any budget" in found["reason"]
    assert "no area" in found["reason"]


def test_overruns_are_the_largest_and_rounding_is_none():
    rows = long_table(row(ONLINE, 3, 0.5, 3 * (1 + 1e-12)), row(ONLINE, 5, 0.5, 4))
    assert largest_overrun(rows) == 0
    assert largest_overrun(long_table(row(ONLINE, 3, 0.5, 3.5), row(ONLINE, 5, 0.5, 5.25))) == 0.5


def test_the_share_of_a_budget_of_nothing_is_not_counted():
    rows = [*singles(), row(ONLINE, 0, 0.4, 0), row(ONLINE, 10, 0.7, 6)]
    assert only_row(beyond(long_table(*rows), {"own": "MIC"}))["budget_used_online"] == pytest.approx(0.6)


# ---- the cheapest budget


def foresee(reach):
    """A training frontier that rises from nothing at budget 0 to `reach` at budget 10."""
    return lambda target: 10 * target / reach if target <= reach else np.nan


def test_cheapest_budgets_measured_and_foreseen():
    # Budgets, not costs: at budget 4 only 1 is spent.
    rows = [*singles(), row(ONLINE, 0, 0.4, 0), row(ONLINE, 4, 0.6, 1), row(ONLINE, 8, 0.72, 2)]
    table = cheapest_budgets(long_table(*rows), {("own", 0): foresee(0.715)}, ["own"])
    assert table.columns.tolist() == BUDGET_COLUMNS
    assert table["target"].tolist() == [
        "as free", "as fair", "as dear", "dear + 1 point", "dear + 2 points", "dear + 3 points",
    ]  # fmt: skip
    assert table["budget"].tolist()[:3] == pytest.approx([0, 2, 4 + 4 * 0.1 / 0.12])
    assert table["budget"][4] == pytest.approx(8) and pd.isna(table["budget"][5])
    assert table["predicted_budget"][3] == pytest.approx(7.1 / 0.715)
    assert table["reason"][4] == "out of reach of the training estimates"
    assert table["reason"][5] == ("out of reach of the test curve; out of reach of the training estimates")
    assert table["reached"].tolist() == [1] * 5 + [0]


def test_cheapest_budgets_of_several_repetitions_have_one_target():
    rows = [*singles(0), *singles(1, shift=0.1), *online((0, 0.4), (10, 0.8)), *online((3, 0.9), seed=1)]
    foresight = {("own", 0): foresee(1.0), ("own", 1): foresee(0.5)}
    table = cheapest_budgets(long_table(*rows), foresight, ["own"]).set_index("target")
    dear = table.loc["as dear"]
    assert dear["target_accuracy"] == pytest.approx(0.75)
    assert dear["budget"] == pytest.approx((8.75 + 3) / 2) and dear["predicted_budget"] == pytest.approx(7.5)
    assert (dear["reached"], dear["predicted_reached"]) == (2, 1)
    assert dear["reason"] == "out of reach of the training estimates in 1 of 2 repetitions"


def test_a_dataset_without_results_has_a_row_with_its_reason():
    found = only_row(cheapest_budgets(long_table(), {}, ["own"]))
    assert (found["dataset"], found["reason"]) == ("own", "no result of any single service")


# ---- written and read again


def test_a_dataset_named_by_digits_is_found_again(tmp_path):
    write_table(long_table(*singles(dataset="007"), *online((3, 0.7), dataset="007")), tmp_path / "t.csv")
    found = only_row(cost_savings(read_table(tmp_path / "t.csv"), {"007": "MIC"}))
    assert (found["best_service"], found["frugalmct_cost"]) == ("dear", 3)


def test_tables_are_the_same_from_the_file_of_the_long_table(tmp_path):
    table = long_table(*whole_sweep(0), *whole_sweep(1))
    write_table(table, tmp_path / "tradeoff.csv")
    again = read_table(tmp_path / "tradeoff.csv")
    for made in (lambda t: cost_savings(t, {"own": "MIC"}), lambda t: ensembles(t, ["own"])):
        write_table(made(table), tmp_path / "one.csv")
        write_table(made(again), tmp_path / "two.csv")
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
