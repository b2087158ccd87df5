"""Calls with costs of their own, from the file to the tables, and beside a dataset of the paper."""

import re
import shutil

import pandas as pd
import pytest
from tiny_project import PROJECT, Project, exhibits_in

# One worker does all that share the run.
pytestmark = pytest.mark.xdist_group("tiny run")

CALLS = """
only: [{only}]
repeats: 1
datasets:
  prompts:
    task: LLM
    source: {{kind: jsonl, path: prompts.jsonl}}
    unit: USD per 1,000 prompts
    budgets: [0.3, 1]
    base: none
    studies: [{studies}]
"""


@pytest.fixture
def calls(project: Project, tmp_path) -> Project:
    folder = tmp_path / "calls"
    folder.mkdir()
    shutil.copy(PROJECT / "examples" / "llm-routing" / "prompts.jsonl", folder)
    return Project(project.root, folder)


def test_from_a_file_of_qualities_to_the_measures_of_the_field(calls):
    made = ("routing", "predictor_quality", "training_size")
    targets = (*(f"results/tables/{name}.csv" for name in made), "results/headlines/prompts.txt")
    config = CALLS.format(only="prompts", studies="training_size")
    output = calls.run(*targets, config=config + "scale: 0.4\n")
    assert "prompts is done: best service large" in output
    table = pd.read_csv(calls.folder / "results/tables/routing.csv").set_index("method")
    assert {"frugalmct_per_call", "threshold_router", "nearest_neighbours", "oracle"} <= set(table.index)
    assert (table["aiq"].between(0, 1)).all() and table["aiq"].idxmax() == "oracle"
    _, quality, sizes = (pd.read_csv(calls.folder / f"results/tables/{name}.csv") for name in made)
    assert set(quality["predictor"]) == {"extra_trees", "mean"} and quality["cost_pcc"].notna().all()
    # With all of its training items it is what the trade-off says.
    tradeoff = pd.read_csv(calls.folder / "results/tables/tradeoff.csv")
    ours = tradeoff[(tradeoff["method"] == "frugalmct_per_call") & (tradeoff["budget"] == 1)]
    last = sizes.loc[sizes["train_items"].idxmax()]
    assert (last["accuracy"], last["cost"]) == (ours["accuracy"].iloc[0], ours["cost"].iloc[0])


def test_budgets_are_compared_with_costs_once_these_are_read(calls):
    config = CALLS.format(only="prompts", studies="").replace("[0.3, 1]", "[500]")
    output = calls.run("results/markets/prompts.npz", config=config)
    assert "Warning: prompts: The lowest budget, 500, is more than 10 times" in output


def test_a_mixed_run_has_each_datasets_own_jobs(calls):
    planned = calls.planned(CALLS.format(only="PASCAL, prompts", studies="all"))
    assert "FrugalMCT per call on prompts, repetition 0" in planned
    assert "Other routers on prompts, repetition 0" in planned
    assert "Choices for PASCAL, repetition 0" in planned and "ensembles" in exhibits_in(planned)
    of_labels = ("Combiners of", "Estimates of", "Choices for", "FrugalMCT plus on", "Baselines of")
    assert not [job for job in planned if job.startswith(of_labels) and "prompts" in job]
    studies = {job for job in planned if job.startswith("Study") and "prompts" in job}
    asked = ("robustness", "solver agreement", "solver runtime", "training size")
    assert studies == {f"Study {study} of prompts, repetition 0" for study in asked}


@pytest.mark.slow
@pytest.mark.parametrize("only", ["prompts", "PASCAL, prompts"])
def test_from_a_file_of_qualities_to_the_report(calls, only):
    few = "solver_study: {items: [20, 100], time_limit: 20}\n"
    calls.run(config=CALLS.format(only=only, studies="all") + few)
    page = (calls.folder / "results" / "report.html").read_text(encoding="utf-8")
    assert 'id="answer-prompts"' in page and "Costs are in USD per 1,000 prompts." in page
    assert 'id="routing"' in page and "every call has its own cost" in page
    robust = pd.read_csv(calls.folder / "results" / "tables" / "robustness.csv")
    own = robust[robust["dataset"] == "prompts"]
    assert set(own["part"]) == {"items", "order", "mix", "prices", "costs"}
    solvers = pd.read_csv(calls.folder / "results" / "tables" / "solver_runtime.csv")
    proven = solvers[(solvers["dataset"] == "prompts") & solvers["proven"]]
    assert {"exact", "cbc", "highs"} <= set(proven["solver"])
    assert "budget (USD per 1,000 prompts)" in page or only != "prompts"
    assert not re.search(r"\bnan\b", re.sub(r"<[^>]*>", " ", page.partition("<script>")[0]))
