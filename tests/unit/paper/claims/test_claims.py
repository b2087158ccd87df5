"""The rule of verdicts, and every claim on numbers that make it hold and on numbers that do not."""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from made_up_tables import PAPER_DATASETS, made_up_tables

from frugalmct.paper.claims import accuracy, data, ensembles, learning, savings, speed, theory
from frugalmct.paper.claims.claim import CANNOT, DIFFERS, FAILS, HOLDS, VERDICTS, Finding, claim, verdict_of
from frugalmct.paper.claims.registry import CLAIMS, claims_table
from frugalmct.paper.claims.results import (
    Results,
    Untestable,
    above,
    below,
    distance,
    enough_above,
    in_percent,
    in_points,
)
from frugalmct.paper.intervals import Interval

Tables = dict[str, pd.DataFrame]


@cache
def _made_up() -> Tables:
    return made_up_tables(PAPER_DATASETS)


def nine() -> Tables:
    return {name: table.copy() for name, table in _made_up().items()}


def results_of(tables: Tables, kind: str = "simulated", dropped: dict | None = None) -> Results:
    names = tables["tradeoff"]["dataset"].unique() if "tradeoff" in tables else PAPER_DATASETS
    return Results(tables, dict.fromkeys(names, kind), dropped or {}, test_share=0.5)


def verdict(of, tables: Tables, kind: str = "simulated") -> str:
    return of.row(results_of(tables, kind))["verdict"]


# ---- all of them


def test_every_claim_is_a_sentence_with_a_place_and_a_test():
    sentences = [claim.sentence for claim in CLAIMS]
    assert len(set(sentences)) == len(sentences) >= 45
    for claim_ in CLAIMS:
        assert claim_.sentence[0].isupper() and claim_.test and not claim_.sentence.endswith(".")
        assert re.match(r"(abstract|section \d|table \d|figure \d|appendix [ABC])", claim_.place), (
            claim_.place
        )


def test_without_tables_only_what_needs_none_is_tested():
    rows = claims_table(results_of({}))
    decided = rows[rows["verdict"] != CANNOT]
    assert set(decided["claim"]) == {theory.combiner_example.sentence, data.free_models.sentence}
    undecided = rows[rows["verdict"] == CANNOT]
    assert undecided["note"].str.endswith(".").all(), "each says why"


def test_what_fails_stands_first_and_nothing_is_called_better_for_being_far():
    rows = claims_table(results_of(nine()))
    assert len(rows) == len(CLAIMS)
    places = rows["verdict"].map(VERDICTS.index)
    assert places.is_monotonic_increasing and set(rows["verdict"]) == set(VERDICTS)
    assert rows["verdict"].iloc[0] == FAILS
    for column in ("measured", "note"):
        assert not rows[column].str.contains(r"\bbetter\b|\bnan\b", regex=True).any()
    saving = rows.set_index("claim").loc[savings.mean_saving.sentence]
    assert re.search(r"\d points below the paper", saving["measured"])


def test_circular_verdicts_say_so_on_simulated_data_alone():
    simulated = accuracy.best_services.row(results_of(nine()))
    assert simulated["note"].endswith(
        "Circular on simulated data: the simulation is fitted to the services' accuracies."
    )
    assert "Circular" not in accuracy.best_services.row(results_of(nine(), "release"))["note"]


def test_plus_stands_beside_where_it_was_run():
    both, alone = nine(), nine()
    rows = alone["tradeoff"]
    alone["tradeoff"] = rows[rows["method"] != "frugalmct_plus"]
    assert len(alone["tradeoff"]) < len(rows)
    for of in (savings.over_90, accuracy.up_to_8, accuracy.beats_frugalml, ensembles.votes_cost_more):
        without = of.row(results_of(alone))["measured"]
        assert "plus" not in without
        assert of.row(results_of(both))["measured"].startswith(f"{without}; plus: ")


# ---- the rule


def test_the_verdict_is_the_methods_fault_unless_the_data_are_others():
    tables = nine()
    method, numbers = claim("A", "abstract", "t")(None), claim("B", "abstract", "t", of_data=True)(None)
    fails, holds, unknown = Finding("", False), Finding("", True), Finding("", None)
    simulated = results_of(tables)
    assert [verdict_of(of, fails, simulated) for of in (method, numbers)] == [FAILS, DIFFERS]
    assert {verdict_of(of, holds, simulated) for of in (method, numbers)} == {HOLDS}
    assert {verdict_of(of, unknown, simulated) for of in (method, numbers)} == {CANNOT}


def test_released_answers_are_the_papers_data_if_whole_and_as_accurate():
    tables = nine()
    rows = tables["tradeoff"]
    best = rows["method"] == "single:Microsoft"
    rows.loc[best & (rows["dataset"] == "PASCAL"), "accuracy"] = 0.748
    numbers = claim("B", "abstract", "t", of_data=True)(None)
    released = results_of(tables, "release")
    assert released.has_papers_data("PASCAL") and not released.has_papers_data("MIR")
    assert verdict_of(numbers, Finding("", False, where=["PASCAL"]), released) == FAILS
    assert verdict_of(numbers, Finding("", False, where=["MIR"]), released) == DIFFERS
    assert verdict_of(numbers, Finding("", False, where=["PASCAL", "MIR"]), released) == FAILS
    without = results_of(tables, "release", {"PASCAL": {"SSD": ["file"]}})
    assert not without.has_papers_data("PASCAL")
    assert not results_of(tables, "recorded").has_papers_data("PASCAL")
    del tables["tradeoff"]
    assert verdict(data.table_2, tables, "release") == DIFFERS, "whose accuracies are not known"


def test_a_check_that_cannot_be_made_says_why():
    def check(results):
        raise Untestable("there are no items")

    row = claim("A", "abstract", "t")(check).row(results_of({}))
    assert (row["verdict"], row["note"], row["measured"]) == (CANNOT, "There are no items.", "")


# ---- words and comparisons, by hand


def test_above_goes_by_the_interval_and_one_repetition_has_none():
    sure, unsure, once = Interval(0.5, 0.4, 0.6), Interval(0.5, 0.2, 0.8), Interval(0.5, np.nan, np.nan)
    assert above(sure, 0.3) and not above(unsure, 0.3) and not above(once, 0.3) and not above(once, 0.6)
    assert below(sure, 0.7) and not below(unsure, 0.7) and not below(once, 0.7)
    assert enough_above({"a": once}, 0.3, 1) is enough_above({"a": once}, 0.6, 1) is None
    assert enough_above({"a": once, "b": sure}, 0.3, 3) is False, "there are not so many"
    two = {"a": sure, "b": unsure}
    assert enough_above(two, 0.3, 1) is True
    assert enough_above(two, 0.3, 2) is None, "by its mean it may be"
    assert enough_above(two, 0.55, 1) is False


def test_numbers_in_words():
    found = Interval(0.634, 0.6, 0.67)
    assert in_percent(found) == "63 % (60 to 67)" and in_points(found) == "+63.4 points (+60.0 to +67.0)"
    once = Interval(-0.012, np.nan, np.nan)
    assert in_percent(once, 1) == "-1.2 %" and in_points(once) == "-1.2 points"
    assert distance(0.93, 0.63) == "30.0 points above the paper"
    assert distance(0.2, 0.28, share=False) == "0.08 below the paper"
    assert distance(0.5, 0.5) == "as the paper"


def test_differences_are_paired_by_repetition_and_corrected():
    tables = nine()
    results = results_of(tables)
    lead = results.leads("frugalmct_online", "frugalml")["COCO"]
    rows = tables["tradeoff"]
    rows = rows[rows["dataset"] == "COCO"]
    by_hand = [
        rows[(rows["method"] == "frugalmct_online") & (rows["repetition"] == r)]["accuracy"].mean()
        - rows[(rows["method"] == "frugalml") & (rows["repetition"] == r)]["accuracy"].mean()
        for r in range(3)
    ]
    assert lead.mean.mean == pytest.approx(np.mean(by_hand))
    # Two degrees of freedom; half of the items are tested on: 1/3 + 1.
    assert lead.mean.half == pytest.approx(4.302652730 * np.std(by_hand, ddof=1) * np.sqrt(4 / 3))
    assert len(lead.at) == 7


def test_bases_are_matched_with_their_own_dummy_and_count_once_a_repetition():
    """A row per base, too: twice as many rows are no further repetitions, and each base has its own dummy."""
    smaller = {("SSD", 0): 0.05, ("SSD", 1): 0.07, ("Microsoft", 0): 0.11, ("Microsoft", 1): 0.15}
    rows = [
        ("COCO", predictor, base, repetition, 0.2 + (better if predictor == "mean" else 0.0), 0.5)
        for (base, repetition), better in smaller.items()
        for predictor in ("random_forest", "mean")
    ]
    # A base that was chosen in one repetition alone.
    rows += [
        ("COCO", name, "Google", 1, rmse, 0.5) for name, rmse in (("random_forest", 0.2), ("mean", 0.34))
    ]
    table = pd.DataFrame(rows, columns=["dataset", "predictor", "base", "repetition", "rmse", "pcc"])
    found = learning.gains(results_of({"predictor_quality": table}), "rmse_dummy", "rmse")["COCO"]
    by_hand = [(0.05 + 0.11) / 2, (0.07 + 0.15 + 0.14) / 3]
    assert found.mean == pytest.approx(np.mean(by_hand))
    # One degree of freedom; half of the items are tested on: 1/2 + 1.
    assert found.half == pytest.approx(12.70620474 * np.std(by_hand, ddof=1) * np.sqrt(3 / 2))


# ---- every claim on numbers that turn its verdict


def set_rows(table: str, where: Callable[[pd.DataFrame], pd.Series], **values) -> Callable[[Tables], None]:
    """A change of some rows: to numbers, or by functions of the column."""

    def change(tables: Tables) -> None:
        rows = tables[table]
        chosen = where(rows)
        assert chosen.any(), table
        for column, value in values.items():
            rows.loc[chosen, column] = value(rows.loc[chosen, column]) if callable(value) else value

    return change


def method(*names: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda rows: rows["method"].isin(names)


def of(dataset: str, *names: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda rows: (rows["dataset"] == dataset) & rows["method"].isin(names)


def shifted(by: float) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column + by


def as_another(name: str, source: str, by: float = 0.0) -> Callable[[Tables], None]:
    """A further method: another's rows, shifted."""

    def change(tables: Tables) -> None:
        rows = tables["tradeoff"]
        own = rows[rows["method"] == source]
        new = own.assign(method=name, accuracy=own["accuracy"] + by)
        tables["tradeoff"] = pd.concat([rows, new], ignore_index=True)

    return change


def sizes(tables: Tables) -> None:
    rows = tables["training_size"]
    rows.loc[rows["train_items"] == 3000, ["train_items", "accuracy"]] = [20_000, 0.6]
    rows.loc[rows["train_items"] == 1000, ["train_items", "accuracy"]] = [4000, 0.596]


def flaml_alone(tables: Tables) -> None:
    rows = tables["predictors"]
    rows.loc[rows["predictor"] == "extra_trees", ["predictor", "gain"]] = ["flaml", -0.03]


def more_of_the_case(*rows: dict) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        new = pd.DataFrame(rows).assign(dataset="COCO", budget=6.0, repetition=0)
        tables["case_study"] = pd.concat([tables["case_study"], new], ignore_index=True)

    return change


def finer_grid(reached: float) -> Callable[[Tables], None]:
    return more_of_the_case(
        {"part": "grid", "name": "M = 10", "accuracy": 0.5},
        {"part": "grid", "name": "M = 20", "accuracy": reached},
    )


def answers(both: float, *alone: float) -> Callable[[Tables], None]:
    reached = {"combined": both} | {f"alone {number}": one for number, one in enumerate(alone)}
    return more_of_the_case(
        *(
            {"part": "combiner", "name": n, "accuracy": a, "marked": n == "combined"}
            for n, a in reached.items()
        )
    )


def learnt(dual_price: float) -> Callable[[Tables], None]:
    is_marked = lambda r: (r["part"] == "dual_price_curve") & r["marked"].eq(True)  # noqa: E731
    return lambda tables: tables.update(
        case_study=tables["case_study"].assign(
            paper_dual_price=np.where(is_marked(tables["case_study"]), 0.006, np.nan),
            dual_price=tables["case_study"]["dual_price"].mask(is_marked(tables["case_study"]), dual_price),
        )
    )


def kept_by_price(share: float) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        rows = tables["robustness"]
        rows.loc[rows["setting"] == "-0.1", "delta"] = 0.01
        tables["robustness"] = rows.assign(kept_by_price=share)

    return change


def far_delta_is_better(tables: Tables) -> None:
    rows = tables["robustness"]
    rows.loc[rows["setting"] == "-0.1", "delta"] = 0.01
    rows.loc[rows["setting"] == "0.2", "accuracy"] += 0.0021


def frugalml_by_size(lost: float) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        few = tables["training_size"]["train_items"] <= 1000
        tables["training_size"]["frugalml_accuracy"] = np.where(few, 0.5 - lost, 0.5)

    return change


def real_labels_per_image(tables: Tables) -> None:
    rows = tables["dataset_statistics"]
    rows["labels_per_item"] = rows["dataset"].map({"PASCAL": 1.4456, "MIR": 3.7164, "COCO": 2.9011})


def nothing(tables: Tables) -> None:
    """As they are made up."""


ONLINE = "frugalmct_online"
ALL = lambda rows: pd.Series(True, index=rows.index)  # noqa: E731
TURNS = [
    (savings.over_90, set_rows("tradeoff", method(ONLINE), accuracy=shifted(0.2)), HOLDS),
    (savings.over_90, nothing, DIFFERS),
    (savings.as_high_as_98, set_rows("tradeoff", method(ONLINE), accuracy=shifted(0.3)), HOLDS),
    (savings.as_high_as_98, nothing, DIFFERS),
    (savings.typically_over_60, set_rows("tradeoff", method(ONLINE), accuracy=shifted(0.1)), HOLDS),
    (savings.typically_over_60, nothing, DIFFERS),
    (savings.mean_saving, set_rows("tradeoff", method(ONLINE), accuracy=shifted(0.1)), HOLDS),
    (savings.mean_saving, nothing, DIFFERS),
    (savings.table_4, nothing, DIFFERS),
    (savings.cheaper, nothing, HOLDS),
    (savings.cheaper, set_rows("tradeoff", of("COCO", ONLINE), accuracy=shifted(-0.2)), FAILS),
    (accuracy.up_to_8, set_rows("tradeoff", of("GMB", ONLINE), accuracy=shifted(0.05)), HOLDS),
    (accuracy.up_to_8, nothing, DIFFERS),
    (accuracy.over_5_points, set_rows("tradeoff", method(ONLINE), accuracy=shifted(0.03)), HOLDS),
    (accuracy.over_5_points, nothing, DIFFERS),
    (accuracy.above_any_service, nothing, HOLDS),
    (accuracy.above_any_service, set_rows("tradeoff", method(ONLINE), accuracy=shifted(-0.1)), FAILS),
    (accuracy.complementary, nothing, HOLDS),
    (accuracy.complementary, set_rows("tradeoff", of("MIR", "oracle"), accuracy=0.3), FAILS),
    (accuracy.beats_frugalml, nothing, HOLDS),
    (accuracy.beats_frugalml, set_rows("tradeoff", of("COCO", ONLINE), accuracy=shifted(-0.1)), FAILS),
    (accuracy.beats_dap, nothing, HOLDS),
    (accuracy.beats_dap, set_rows("tradeoff", method("dap"), accuracy=shifted(0.1)), FAILS),
    (accuracy.beats_frugalml_thresholds, as_another("frugalml_thresholds", "frugalml", 0.01), HOLDS),
    (accuracy.beats_frugalml_thresholds, as_another("frugalml_thresholds", "frugalml", 0.1), FAILS),
    (accuracy.beats_frugalml_combined, as_another("frugalml_combined", ONLINE), HOLDS),
    (accuracy.beats_frugalml_combined, as_another("frugalml_combined", ONLINE, 0.02), FAILS),
    (accuracy.beats_dap_best_base, as_another("dap_best_base", "dap", -0.01), HOLDS),
    (accuracy.beats_dap_best_base, as_another("dap_best_base", "dap", 0.1), FAILS),
    (accuracy.online_as_offline, nothing, HOLDS),
    (
        accuracy.online_as_offline,
        set_rows("tradeoff", lambda r: of("LSVT", ONLINE)(r) & (r["budget"] == 3), accuracy=shifted(-0.02)),
        FAILS,
    ),
    (accuracy.despite_errors, nothing, HOLDS),
    (accuracy.despite_errors, set_rows("tradeoff", of("CONLL", ONLINE), accuracy=shifted(-0.1)), FAILS),
    (accuracy.best_services, nothing, DIFFERS),
    (theory.within_budget, nothing, HOLDS),
    (
        theory.within_budget,
        set_rows("tradeoff", lambda r: of("GMB", ONLINE)(r) & (r["budget"] == 3), cost=3.01),
        FAILS,
    ),
    (theory.theorem_1, nothing, HOLDS),
    (
        theory.theorem_1,
        set_rows("solver_runtime", lambda r: (r["solver"] == "lp") & (r["items"] == 1000), accuracy=0.5085),
        FAILS,
    ),
    (theory.theorem_2, nothing, HOLDS),
    (theory.theorem_2, set_rows("robustness", lambda r: r["items"] == 60000, regret_high=0.5), FAILS),
    (theory.theorem_2, set_rows("robustness", lambda r: r["items"] == 50, highest_cost=6.1), FAILS),
    (theory.small_delta, set_rows("robustness", lambda r: r["setting"] == "-0.1", delta=0.01), HOLDS),
    (
        theory.small_delta,
        lambda tables: [
            change(tables)
            for change in (
                set_rows("robustness", lambda r: r["setting"] == "-0.1", delta=0.01),
                set_rows("robustness", lambda r: r["setting"] == "0.2", accuracy=0.6),
            )
        ],
        FAILS,
    ),
    (speed.constant_time, nothing, HOLDS),
    (
        speed.constant_time,
        set_rows("solver_runtime", lambda r: (r["solver"] == "online") & (r["items"] > 60000), seconds=9),
        FAILS,
    ),
    (speed.faster_selection, nothing, HOLDS),
    (speed.faster_selection, set_rows("solver_runtime", lambda r: r["solver"] == "cbc", seconds=1), FAILS),
    (speed.as_accurate_as_solvers, nothing, HOLDS),
    (
        speed.as_accurate_as_solvers,
        set_rows("solver_runtime", lambda r: r["solver"] == "online", accuracy=0.5),
        FAILS,
    ),
    (speed.faster_training, nothing, FAILS),
    (speed.faster_training, set_rows("runtime", method("frugalml"), training_seconds=5001), HOLDS),
    (speed.similar_inference, nothing, FAILS),
    (speed.similar_inference, set_rows("runtime", method("frugalml"), inference_seconds=0.6), HOLDS),
    (speed.few_minutes, nothing, HOLDS),
    (speed.few_minutes, set_rows("runtime", method("frugalmct"), training_seconds=301), FAILS),
    (ensembles.case_shares, nothing, HOLDS),
    (ensembles.case_shares, set_rows("case_study", lambda r: r["name"] == "Google", share=0.1041), DIFFERS),
    # SSD and Everypixel together have most, but another service is called more often than Everypixel.
    (ensembles.case_shares, set_rows("case_study", lambda r: r["name"] == "Microsoft", share=0.41), DIFFERS),
    (ensembles.best_dual_price, nothing, HOLDS),
    (
        ensembles.best_dual_price,
        set_rows("case_study", lambda r: r["dual_price"] > 0.07, accuracy=0.6),
        FAILS,
    ),
    (ensembles.case_comparison, nothing, HOLDS),
    (
        ensembles.case_comparison,
        set_rows(
            "case_study", lambda r: (r["part"] == "comparison") & (r["name"] == "frugalml"), accuracy=0.6
        ),
        DIFFERS,
    ),
    (ensembles.votes_cost_more, nothing, HOLDS),
    (
        ensembles.votes_cost_more,
        set_rows("tradeoff", method("weighted_majority_vote"), accuracy=shifted(0.1)),
        FAILS,
    ),
    (ensembles.votes_cost_more, set_rows("tradeoff", method("weighted_majority_vote"), cost=12), FAILS),
    (ensembles.fair_votes, as_another("majority_vote_abstaining", "majority_vote", 0.02), HOLDS),
    (ensembles.fair_votes, as_another("majority_vote_abstaining", "majority_vote", 0.2), FAILS),
    (ensembles.above_votes, nothing, HOLDS),
    (
        ensembles.above_votes,
        set_rows("tradeoff", of("ZHNER", "majority_vote"), accuracy=shifted(0.2)),
        DIFFERS,
    ),
    (ensembles.table_6, nothing, HOLDS),
    (ensembles.table_6, set_rows("ensembles", method("majority_vote"), accuracy=0.3), DIFFERS),
    (learning.better_than_dummy, nothing, HOLDS),
    (
        learning.better_than_dummy,
        set_rows(
            "predictor_quality", lambda r: (r["dataset"] == "MIR") & (r["predictor"] == "mean"), rmse=0.1
        ),
        FAILS,
    ),
    (learning.table_7, set_rows("predictor_quality", ALL, paper_pcc=0.6), HOLDS),
    (learning.table_7, set_rows("predictor_quality", ALL, paper_rmse=0.4), DIFFERS),
    (learning.automl_similar, nothing, CANNOT),
    (
        learning.automl_similar,
        set_rows("predictors", lambda r: r["predictor"] == "auto_sklearn", gain=0.004),
        HOLDS,
    ),
    (
        learning.automl_similar,
        set_rows("predictors", lambda r: r["predictor"] == "auto_sklearn", gain=-0.03),
        FAILS,
    ),
    (learning.automl_similar, flaml_alone, CANNOT),
    (learning.few_thousand, nothing, CANNOT),
    (learning.few_thousand, sizes, HOLDS),
    (
        learning.few_thousand,
        lambda tables: [
            change(tables)
            for change in (
                sizes,
                set_rows("training_size", lambda r: r["train_items"] == 4000, accuracy=0.58),
            )
        ],
        FAILS,
    ),
    (data.samples, nothing, DIFFERS),
    (
        data.samples,
        lambda tables: tables["dataset_statistics"].__setitem__(
            "items", [11540, 25000, 123287, 9742, 20000, 30000, 10898, 16915, 47830]
        ),
        HOLDS,
    ),
    (data.table_2, nothing, DIFFERS),
    (
        data.table_2,
        set_rows("dataset_statistics", ALL, paper_items=1154, paper_label_occurrences=1668),
        HOLDS,
    ),
    (data.training_cost, nothing, HOLDS),
    (
        data.training_cost,
        set_rows("service_prices", lambda r: r["service"] == "Google", price_usd_per_10k=30),
        FAILS,
    ),
    (data.precision_and_recall, nothing, FAILS),
    (data.precision_and_recall, set_rows("per_label", method("frugalmct"), precision=1.0, recall=1.0), HOLDS),
    (data.none_universal, nothing, HOLDS),
    (
        data.none_universal,
        set_rows("per_label", method("single:Google"), precision=1.0, recall=1.0),
        FAILS,
    ),
    (data.single_labels, nothing, CANNOT),
    (data.exponential, nothing, CANNOT),
    (speed.vote_inference, nothing, CANNOT),
    (theory.fine_grid, nothing, CANNOT),
    (theory.fine_grid, finer_grid(0.501), HOLDS),
    (theory.fine_grid, finer_grid(0.503), FAILS),
    (theory.delta_range, nothing, CANNOT),
    # With 1,000 items the range ends at 0.069.
    (theory.delta_range, set_rows("robustness", lambda r: r["setting"] == "-0.1", delta=0.06), HOLDS),
    (theory.delta_range, set_rows("robustness", lambda r: r["setting"] == "-0.1", delta=0.07), CANNOT),
    (theory.delta_range, far_delta_is_better, FAILS),
    (theory.budget_by_price, nothing, CANNOT),
    (theory.budget_by_price, kept_by_price(0.95), HOLDS),
    (theory.budget_by_price, kept_by_price(0.9), FAILS),
    (ensembles.learnt_dual_price, nothing, CANNOT),
    (ensembles.learnt_dual_price, learnt(0.0064), HOLDS),
    (ensembles.learnt_dual_price, learnt(0.0102), DIFFERS),
    (ensembles.combiner_above_both, nothing, CANNOT),
    (ensembles.combiner_above_both, answers(0.5, 0.4, 0.49), HOLDS),
    (ensembles.combiner_above_both, answers(0.5, 0.4, 0.51), FAILS),
    (ensembles.lead_by_combining, nothing, CANNOT),
    (ensembles.lead_by_combining, as_another("frugalml_combined", ONLINE, -0.001), HOLDS),
    (ensembles.lead_by_combining, as_another("frugalml_combined", "frugalml", 0.001), FAILS),
    (learning.dummy_rmse, set_rows("predictor_quality", ALL, paper_rmse=0.34), HOLDS),
    (learning.dummy_rmse, set_rows("predictor_quality", ALL, paper_rmse=0.4), DIFFERS),
    (learning.frugalml_needs_items, nothing, CANNOT),
    (learning.frugalml_needs_items, frugalml_by_size(0.02), HOLDS),
    (learning.frugalml_needs_items, frugalml_by_size(0.005), FAILS),
    (data.labels_per_image, nothing, DIFFERS),
    (data.labels_per_image, real_labels_per_image, HOLDS),
    (data.cheap_training, nothing, HOLDS),
    (
        data.cheap_training,
        set_rows("service_prices", lambda r: r["service"] == "Google", price_usd_per_10k=105),
        FAILS,
    ),
    (data.labels_by_service, nothing, CANNOT),
    (theory.combiner_example, nothing, FAILS),
    (data.free_models, nothing, FAILS),
]


@pytest.mark.parametrize(("of", "change", "expected"), TURNS, ids=[f"{n}" for n in range(len(TURNS))])
def test_a_claims_verdict_turns_with_the_numbers(of, change, expected):
    tables = nine()
    change(tables)
    row = of.row(results_of(tables))
    assert row["verdict"] == expected, row


def test_labels_of_coco_by_hand():
    shares = {"person": 0.54, "car": 0.105, "chair": 0.11, "dining table": 0.1, "toaster": 0.002}
    table = pd.DataFrame(
        {"dataset": "COCO", "label": [*shares, "hair drier"], "share": [*shares.values(), 0.001]}
    )
    tables = nine() | {"label_distribution": table}
    assert verdict(data.skewed_labels, tables) == DIFFERS, "dining tables are not in more than a tenth"
    table.loc[table["label"] == "dining table", "share"] = 0.101
    assert verdict(data.skewed_labels, tables) == HOLDS


def test_examples_and_labels_of_the_release():
    tables = nine()
    tables["worked_examples"]["base_accuracy"] = [1.0, 0.5]
    assert verdict(data.examples, tables) == HOLDS
    tables["worked_examples"]["result_accuracy"] = [1.0, 0.4]
    assert verdict(data.examples, tables) == FAILS
    rows = [
        ("COCO", method, label, 10, precision, recall)
        for label, (precision, recall) in {
            "zebra": (0.9, 0.95), "hair drier": (0.0, 0.0), "airplane": (0.6, 0.9), "banana": (0.9, 0.5),
        }.items()
        for method in ("single:Google", "frugalmct")
    ]  # fmt: skip
    names = ["dataset", "method", "label", "occurrences", "precision", "recall"]
    tables["per_label"] = pd.DataFrame(rows, columns=names)
    assert verdict(data.single_labels, tables, "release") == HOLDS
    tables["per_label"].loc[tables["per_label"]["label"] == "zebra", "recall"] = 0.5
    assert verdict(data.single_labels, tables, "release") in (DIFFERS, FAILS)


def test_one_repetition_gives_no_verdict_where_an_interval_is_asked_for():
    tables = nine()
    tables["tradeoff"] = tables["tradeoff"].query("repetition == 0")
    asked = (accuracy.up_to_8, accuracy.beats_frugalml, accuracy.above_any_service, savings.cheaper)
    for of in (*asked, savings.over_90, ensembles.above_votes):
        row = of.row(results_of(tables))
        assert row["verdict"] == CANNOT and "too few repetitions to tell" in row["note"], row
        assert row["measured"], "its numbers are still shown"


def test_training_sizes_that_may_lose_more_than_a_point_do_not_tell_and_those_left_out_are_named():
    tables = nine()
    sizes(tables)
    rows = tables["training_size"]
    rows.loc[(rows["dataset"] == "MIR") & (rows["train_items"] == 20_000), "train_items"] = 3999
    one = (rows["dataset"] == "GMB") & (rows["train_items"] == 4000)
    rows.loc[one, "accuracy"] = rows.loc[one, "repetition"].map({0: 0.6, 1: 0.585, 2: 0.59})
    row = learning.few_thousand.row(results_of(tables))
    assert row["verdict"] == CANNOT and "GMB -0.8 points (-4.6 to +3.0)" in row["measured"]
    assert row["note"].startswith("MIR left out: not learnt from both fewer and more than 4,000 items")
    assert "1,000 items at most" in row["note"]


def test_verdicts_on_one_split_say_so():
    for of in (ensembles.case_shares, speed.few_minutes, theory.theorem_1, data.precision_and_recall):
        assert "One split, so that there is no interval." in of.row(results_of(nine()))["note"]
    assert "One split" not in accuracy.beats_frugalml.row(results_of(nine()))["note"]


def test_time_that_grows_faster_than_services_is_found(monkeypatch):
    seconds = {4: 4e-8, 8: 8e-8, 16: 2e-7, 32: 4.16e-7, 64: 7e-7}
    monkeypatch.setattr(speed, "item_seconds", seconds.__getitem__)
    row = speed.constant_time.row(results_of(nine()))
    assert row["verdict"] == HOLDS and "0.7 with 64 services, 1.3 times as much" in row["measured"]
    seconds[64] = 64 * 3.01e-8
    assert verdict(speed.constant_time, nine()) == FAILS
    monkeypatch.undo()
    assert 0 < speed.item_seconds(64) < 1e-3


def test_labels_that_services_know_on_released_answers():
    tables = nine()
    known = {
        "toaster": {"SSD": 0.01, "Microsoft": 0.02, "Everypixel": 0.4, "Google": 0.5},
        "kite": {"SSD": 0.5, "Microsoft": 0.6, "Everypixel": 0.1, "Google": 0.7},
        "knife": {"SSD": 0.5, "Microsoft": 0.6, "Everypixel": 0.1, "Google": 0.7},
    }
    rows = [
        ("COCO", method, label, 10, value, value)
        for label, services in known.items()
        for method, value in [
            *((f"single:{name}", own) for name, own in services.items()),
            ("frugalmct", 0.5),
        ]
    ]
    tables["per_label"] = pd.DataFrame(
        rows, columns=["dataset", "method", "label", "occurrences", "precision", "recall"]
    )
    assert verdict(data.labels_by_service, tables, "release") == HOLDS
    knife = (tables["per_label"]["label"] == "knife") & (tables["per_label"]["method"] == "single:Everypixel")
    tables["per_label"].loc[knife, ["precision", "recall"]] = 0.55
    assert verdict(data.labels_by_service, tables, "release") in (DIFFERS, FAILS)


def test_few_repetitions_that_do_not_tell_are_not_called_a_failure():
    tables = nine()
    rows = tables["tradeoff"]
    one = (rows["dataset"] == "PASCAL") & (rows["method"] == ONLINE)
    rows.loc[one, "accuracy"] += rows.loc[one, "repetition"].map({0: 0.3, 1: -0.15, 2: 0.0})
    row = accuracy.despite_errors.row(results_of(tables))
    assert row["verdict"] == CANNOT and "too few repetitions to tell" in row["note"]
    assert "PASCAL +" in row["measured"], "its numbers are still shown"
