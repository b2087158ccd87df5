import pandas as pd

from frugalmct.paper.report.run import Run
from frugalmct.paper.report.warnings import warning_lines, warnings_box

BLOCK = {
    "prices": {"Fast": 6.0, "Deep": 15.0}, "budgets": [8.0, 12.0], "unit": "USD per 10,000 items",
    "labels_per_item": None,
}  # fmt: skip


def run_of(items: int = 1000, occurrences: int = 2000, **changes) -> Run:
    statistics = pd.DataFrame(
        {"dataset": ["mine"], "items": items, "label_occurrences": occurrences,
         "largest_label_set": 3 if occurrences > items else 1}
    )  # fmt: skip
    settings = {"train_share": 0.6, "datasets": {"mine": BLOCK | changes}}
    return Run({"dataset_statistics": statistics}, {}, settings, {})


def lines(*given, **changes) -> list[str]:
    return list(warning_lines(run_of(*given, **changes)))


def test_nothing_to_warn_of_leaves_no_box():
    assert lines() == [] and warnings_box(run_of()) == ""
    assert list(warning_lines(Run({}, {}, {}, {}))) == []


def test_each_suspicion_is_a_line_in_the_box():
    assert "With 40 test items chance decides" in lines(100)[0]
    assert "exactly one true label" in lines(1000, 1000)[0]
    assert lines(1000, 1000, labels_per_item=1) == []
    assert "10000 cannot be spent" in lines(budgets=[8.0, 1e4])[0]
    assert "the price of one call" in lines(prices={"Fast": 0.0006, "Deep": 0.0015}, budgets=[0.001])[0]
    assert lines(prices={"Fast": 0.0006, "Deep": 0.0015}, budgets=[0.001], unit="USD a call") == []
    box = warnings_box(run_of(100, 100))
    assert box.count("<li>mine: ") == 2 and "Warnings" in box


def test_budgets_are_compared_with_mean_costs_where_only_the_data_say_them():
    singles = pd.DataFrame(
        {"dataset": "mine", "method": ["single:small", "single:large"] * 2, "repetition": [0, 0, 1, 1],
         "budget": 1.0, "accuracy": 0.5, "cost": [0.2, 1.5, 0.2, 1.7]}
    )  # fmt: skip
    run = run_of(prices={}, budgets=[500.0], unit="the unit of the recorded costs")
    run.tables["tradeoff"] = singles
    (line,) = warning_lines(run)
    assert "500, is more than 10 times" in line and "1.8;" in line
    run.settings["datasets"]["mine"]["budgets"] = [1.0]
    assert list(warning_lines(run)) == []
