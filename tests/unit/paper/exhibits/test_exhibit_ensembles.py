import numpy as np
import pytest
from drawings import words
from long_tables import long_table, online, row, singles, whole_sweep

from frugalmct.paper.exhibits.cost_savings import cost_savings
from frugalmct.paper.exhibits.ensembles import COLUMNS, ENSEMBLES, cheapest_of_the_best, ensembles, plot
from frugalmct.paper.tables import read_table, write_table


def test_the_cheapest_budget_among_the_best():
    rows = long_table(*online((1, 0.5), (4, 0.7996), (8, 0.8), (9, 0.8)))
    assert cheapest_of_the_best(rows) == 4
    rows = long_table(*online((1, 0.5), (4, 0.7994), (8, 0.8), (9, 0.8)))
    assert cheapest_of_the_best(rows) == 8


def test_the_choice_of_budget_is_by_means():
    rows = [*online((1, 0.9), (2, 0.8)), *online((1, 0.5), (2, 0.8), repetition=1)]
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
    assert found.columns.tolist() == [column.name for column in COLUMNS] and len(found) == 10
    coco = found[found["dataset"] == "COCO"].set_index("method")
    assert coco.loc["best_single", "service"] == "dear"
    assert coco["cost"].tolist()[:1] == [10] and coco.loc["majority_vote", "cost"] == 14
    assert coco.loc["frugalml", "reason"] == "no result of frugalml (failed)"
    assert coco.loc["weighted_majority_vote", "reason"] == "no result of weighted_majority_vote"
    assert coco["paper_accuracy"].tolist() == pytest.approx([0.475, 0.493, 0.54, 0.501, 0.528])
    assert coco["paper_cost"].tolist() == [10, 8, 12, 31.01, 31.01]
    own = found[found["dataset"] == "own"]
    assert own["paper_accuracy"].isna().all() and own["reason"].notna().all()


def test_tables_are_the_same_from_the_file_of_the_long_table(tmp_path):
    table = long_table(*whole_sweep(0), *whole_sweep(1))
    write_table(table, tmp_path / "tradeoff.csv")
    again = read_table(tmp_path / "tradeoff.csv")
    for made in (lambda t: cost_savings(t, {"own": "MIC"}), lambda t: ensembles(t, ["own"])):
        write_table(made(table), tmp_path / "one.csv")
        write_table(made(again), tmp_path / "two.csv")
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_fairer_forms_are_in_the_table_and_not_in_the_figure():
    rows = [*singles(), *online((6, 0.6)), row("majority_vote", 14, 0.5), row("frugalml", 6, 0.5)]
    rows += [row("weighted_majority_vote", 14, 0.55), row("majority_vote_abstaining", 14, 0.65)]
    rows += online((3, 0.5), (6, 0.58), method="frugalml_combined")
    table = ensembles(long_table(*rows), ["own"])
    assert table["method"].tolist() == [*ENSEMBLES, "frugalml_combined", "majority_vote_abstaining"]
    found = table.set_index("method")
    assert found.loc["majority_vote_abstaining", ["accuracy", "cost"]].tolist() == [0.65, 14]
    assert found.loc["frugalml_combined", "budget"] == 6
    paper = table[table["method"].isin(list(ENSEMBLES))]
    assert words(plot(table)) == words(plot(paper))


def test_the_axis_of_costs_is_in_the_datasets_unit():
    rows = [
        made for name in ("own", "COCO") for made in (*singles(dataset=name), *online((6, 0.6), dataset=name))
    ]
    table, units = ensembles(long_table(*rows), ["own", "COCO"]), {"own": "EUR per 1,000 items"}

    def cost_axis(shown):
        return plot(shown, units=units).axes[1].get_xlabel()

    assert cost_axis(table[table["dataset"] == "own"]) == "cost (EUR per 1,000 items)"
    assert cost_axis(table[table["dataset"] == "COCO"]) == "cost (USD per 10,000 items)"
    assert cost_axis(table) == "mean cost of an item, in the unit of its data"
