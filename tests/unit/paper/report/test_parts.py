"""The order of the page: what owners of services ask, then the paper; each part with its own rows."""

import re

import pandas as pd
import pytest
from made_up_tables import made_up_tables

from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.times import job_times
from frugalmct.paper.report.page import page
from frugalmct.paper.report.parts import QUESTIONS, own_parts, paper_parts
from frugalmct.paper.report.run import Run

OWN = "tickets"
SETTINGS = {
    "seed": 1,
    "repeats": 3,
    "scale": 1.0,
    "predictor": "x",
    "train_share": 0.5,
    "datasets": {OWN: {}},
}


def run_of(*datasets: str) -> Run:
    """Made-up tables; the own dataset's are those of one of the paper's under another name."""
    paper = tuple({"COCO", "PASCAL"} & set(datasets))
    tables = made_up_tables(("COCO", "PASCAL"))
    own = {name: table.replace({"PASCAL": OWN}) for name, table in tables.items()}
    kept = {}
    for name in tables:
        both = pd.concat([tables[name], own[name]], ignore_index=True)
        kept[name] = both[both["dataset"].isin(datasets)] if "dataset" in both else tables[name]
    if OWN in datasets:
        statistics = kept["dataset_statistics"]
        statistics.loc[statistics["dataset"] == OWN, "data"] = "recorded"
    assert paper or "PASCAL" not in datasets
    return Run({name: table for name, table in kept.items() if len(table)}, {}, SETTINGS, {})


def written(run: Run, tmp_path) -> str:
    return page(run, job_times(tmp_path), tmp_path)


def sections(run: Run, tmp_path) -> list[str]:
    return re.findall(r'<section id="([^"]+)"', written(run, tmp_path))


def test_own_data_answer_their_owners_questions_in_order():
    parts = list(own_parts(run_of(OWN), all_exhibits()))
    assert [part.identity for part in parts][: len(QUESTIONS)] == [f"question-{name}" for name in QUESTIONS]
    first, *_ = parts
    assert first.exhibits[0].name == "service_worth"
    places = {exhibit.name: number for number, part in enumerate(parts) for exhibit in part.exhibits}
    assert places["cheapest_budget"] < places["beyond"] < places["worked_examples"] < places["tradeoff"]
    assert not list(paper_parts(run_of(OWN), all_exhibits()))


def test_how_sure_is_worked_by_hand():
    run = run_of(OWN)
    (part,) = [part for part in own_parts(run, all_exhibits()) if part.identity == "question-sure"]
    statistics = run.statistics
    items = int(statistics["items"].iloc[0])
    rows = run.tables["tradeoff"]
    best = rows[rows["method"].str.startswith("single:")].groupby("method")["accuracy"].mean().max()
    points = 196 * (best * (1 - best) / (items - round(items * 0.5))) ** 0.5
    assert f"may be {points:.1f} points higher or lower" in "".join(part.lead)


@pytest.mark.parametrize("tried", [True, False])
def test_training_sizes_that_were_not_tried_are_pointed_to(tried):
    run = run_of(OWN)
    if not tried:
        del run.tables["training_size"]
    (part,) = [part for part in own_parts(run, all_exhibits()) if part.identity == "question-labelled"]
    assert ("studies: [training_size]" in "".join(part.lead)) != tried


def test_in_a_mixed_run_own_parts_come_first_and_each_has_its_own_rows(tmp_path):
    run = run_of("COCO", OWN)
    found = sections(run, tmp_path)
    assert len(found) == len(set(found)), "every identity once"
    order = [
        found.index(name) for name in (f"answer-{OWN}", "question-worth", "answer", "summary", "part-paper")
    ]
    assert order == sorted(order)
    assert "service_worth" in found and {"beyond", "own-beyond"} <= set(found)
    for parts, mine in ((own_parts, True), (paper_parts, False)):
        for part in parts(run, all_exhibits()):
            for table in part.run.tables.values():
                if "dataset" in table:
                    assert ((table["dataset"] == OWN) == mine).all()


def test_own_parts_of_a_mixed_run_miss_no_picture_that_shows_all_datasets(tmp_path):
    own, _, papers = written(run_of("COCO", OWN), tmp_path).partition('<section id="answer"')
    assert "The figure is missing" not in own and "The figure is missing" in papers
    assert "The figure is missing" in written(run_of(OWN), tmp_path)


def test_a_papers_run_has_no_questions(tmp_path):
    assert not [name for name in sections(run_of("COCO"), tmp_path) if name.startswith(("question", "own-"))]
