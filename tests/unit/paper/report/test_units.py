"""Money stands in the unit of each dataset: in tables, on axes, and in what is said of gaps."""

from drawings import words
from made_up_tables import made_up_tables

from frugalmct.paper.columns import BUDGET, DATASET, USUAL_UNIT, in_units
from frugalmct.paper.exhibits import cost_savings
from frugalmct.paper.jobs.times import job_times
from frugalmct.paper.plotting import common_cost_label
from frugalmct.paper.report.gaps import gap_lines
from frugalmct.paper.report.page import Run, page

OWN = "EUR per 1,000 prompts"


def test_a_column_of_money_is_headed_by_the_unit_of_its_datasets():
    assert in_units(BUDGET, {USUAL_UNIT}).heading == in_units(BUDGET, set()).heading == "budget (USD)"
    assert in_units(BUDGET, {OWN}).heading == f"budget ({OWN})"
    assert in_units(BUDGET, {OWN, USUAL_UNIT}).heading == "budget (in the unit of its data)"
    assert in_units(DATASET, {OWN}) is DATASET


def test_an_axis_of_several_datasets_has_their_unit_where_they_have_one():
    assert common_cost_label(["a", "b"], None) == f"cost ({USUAL_UNIT})"
    assert common_cost_label(["a", "b"], {"a": OWN, "b": OWN}) == f"cost ({OWN})"
    assert common_cost_label(["a", "b"], {"a": OWN, "b": USUAL_UNIT}).endswith("in the unit of its data")
    table = made_up_tables(("mine",))["cost_savings"]
    assert f"cost ({OWN})" in words(cost_savings.plot(table, {"mine": OWN}))


def test_tables_of_the_report_carry_the_blocks_unit(tmp_path):
    tables = made_up_tables(("mine",), data="recorded")
    settings = {"datasets": {"mine": {"unit": OWN}}}
    shown = {name: tables[name] for name in ("tradeoff", "training_size", "dataset_statistics")}
    jobs = job_times(tmp_path / "benchmarks")
    text = page(Run(shown, {}, settings, {}), jobs, tmp_path)
    assert f"budget ({OWN})" in text and f"cost ({OWN})" in text and "(USD)" not in text
    assert "budget (USD)" in page(Run(shown, {}, {}, {}), jobs, tmp_path)


def test_what_is_not_made_of_calls_is_said_in_a_line():
    block = {"per_call": True, "studies": ["robustness"]}
    asked, not_applying = gap_lines({}, {}, ["prompts"], {"datasets": {"prompts": block}})
    made = "solver_agreement, solver_runtime, training_size"
    assert asked == f"prompts: not asked for, and not made: {made}; add `studies: [all]` to its block."
    assert (
        not_applying.startswith("prompts: one answer stands") and "Comparison with ensembles" in not_applying
    )
    for title in ("Accuracy and training size", "Time to choose", "Robustness", "Quality of the accuracy"):
        assert title not in not_applying
    everything = {"datasets": {"prompts": block | {"studies": ["all"]}}}
    assert gap_lines({}, {}, ["prompts"], everything) == [not_applying]
