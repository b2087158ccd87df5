"""The whole workflow on small data: what it makes, and what makes it run again."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_project import exhibits_in

# One worker does all that share the run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tiny run")]
DATASETS = ["PASCAL", "MTWI", "ZHNER", "own"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


TABLES = [
    "claims",
    "dataset_statistics",
    "service_prices",
    "simulation_fidelity",
    "label_distribution",
    "tradeoff",
    "cost_savings",
    "ensembles",
    "single_services",
    "predictor_quality",
    "predictors",
    "ablation",
    "beyond",
    "cheapest_budget",
    "solver_agreement",
    "case_study",
    "per_label",
    "runtime",
    "training_size",
    "worked_examples",
    "solver_runtime",
]
FIGURES = [
    "tradeoff",
    "tradeoff/own",
    "label_distribution/own",
    "cost_savings",
    "ensembles",
    "predictor_quality",
    "predictors",
    "training_size",
    "ablation",
    "beyond",
    "case_study/own",
    "per_label/own",
    "solver_runtime/own",
]


LEARNT = ("Answers", "Split", "Combiners", "Estimates")


def test_everything_is_made(finished):
    expected = {f"markets/{name}.npz" for name in DATASETS} | {"report.html"}
    expected |= {f"splits/{name}/{repetition}.npz" for name in DATASETS for repetition in range(2)}
    expected |= {f"figures/{name}.{kind}" for name in FIGURES for kind in ("svg", "png")}
    expected |= {f"tables/{name}.csv" for name in TABLES}
    assert expected <= finished.made()


def test_a_dropped_in_dataset_is_in_every_table_and_the_report(finished):
    results = finished.folder / "results"
    for table in set(TABLES) - {"claims", "service_prices", "simulation_fidelity"}:
        assert "own" in {row["dataset"] for row in rows(results / "tables" / f"{table}.csv")}, table
    report = (results / "report.html").read_text(encoding="utf-8")
    assert "own" in report and "SIMULATED" in report


def test_frugalmct_is_never_over_budget_and_close_to_offline(finished):
    reached = {}
    for row in rows(finished.folder / "results" / "tables" / "tradeoff.csv"):
        if row["method"] in (
            "frugalmct_online",
            "frugalmct_offline",
            "frugalmct_plus",
            "frugalml",
            "random_mix",
            "dap",
            "oracle",
        ):
            assert float(row["cost"]) <= float(row["budget"]) * (1 + 1e-9), row
        reached[row["dataset"], row["budget"], row["repetition"], row["method"]] = float(row["accuracy"])
    for (*cell, method), accuracy in reached.items():
        if method == "frugalmct_online":
            assert accuracy <= reached[*cell, "oracle"] + 1e-9


def test_solvers_agree_with_the_exact_one(finished):
    for row in rows(finished.folder / "results" / "tables" / "solver_agreement.csv"):
        if row["proven"] == "True":
            assert abs(float(row["difference"])) <= 1e-9, row


def test_tables_have_every_dataset(finished):
    tables = finished.folder / "results" / "tables"
    statistics = {row["dataset"]: row for row in rows(tables / "dataset_statistics.csv")}
    assert list(statistics) == DATASETS
    assert (statistics["PASCAL"]["items"], statistics["PASCAL"]["paper_items"]) == ("346", "11540")
    assert (statistics["own"]["items"], statistics["own"]["paper_items"]) == ("120", "")
    assert [row["data"] for row in statistics.values()] == ["simulated", "simulated", "simulated", "recorded"]
    assert {row["datasets"] for row in rows(tables / "service_prices.csv")} == set(DATASETS)
    assert {row["dataset"] for row in rows(tables / "simulation_fidelity.csv")} == set(DATASETS[:3])


def test_every_job_left_a_log_and_its_timing(finished):
    results = finished.folder / "results"
    logs = {file.relative_to(results / "logs").with_suffix("") for file in (results / "logs").rglob("*.log")}
    timings = {
        file.relative_to(results / "benchmarks").with_suffix("")
        for file in (results / "benchmarks").rglob("*.tsv")
    }
    assert logs == timings


def test_the_console_names_every_dataset_that_is_done(finished):
    shown = finished.run("--forcerun", "announce_dataset", "--", "headlines")
    for name in DATASETS:
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{name} is done: ")]
        assert "best service" in line
        kept = finished.folder / "results" / "headlines" / f"{name}.txt"
        assert kept.read_text(encoding="utf-8") == line + "\n"


def test_the_forecast_expects_what_jobs_took_before(finished):
    arguments = finished.command("--forcerun", "split_market", cores=1)[3:]
    forecast = subprocess.run(
        [sys.executable, "-m", "frugalmct.paper", "forecast", "--cores", "1", "--", *arguments],
        cwd=finished.folder,
        env=finished.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(r"(?m)^  split_market +8 +\d+ s$", forecast)
    assert re.search(r"Expected: .+ on 1 core, by what", forecast) and "not known" not in forecast


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in finished.run()


def test_markets_made_again_on_one_core_have_the_same_bytes(finished):
    again = finished.beside("again")
    again.run("--", "markets", cores=1)
    made = again.fingerprints()
    assert len(made) >= 4 + 8 + 4 and made.items() <= finished.fingerprints().items()


def test_another_run_on_one_core_gives_the_same_bytes(finished):
    alone = finished.beside("alone")
    alone.run(cores=1)
    assert alone.fingerprints() == finished.fingerprints()


def test_editing_a_block_re_runs_its_dataset_only(finished):
    jobs = finished.planned("datasets: {MTWI: {source: {blind: 0.3}}}")
    of_datasets = {job for job in jobs if job.startswith(("Market", "Split"))}
    assert of_datasets == {"Market of MTWI", "Split 0 of MTWI", "Split 1 of MTWI"}


def test_more_repetitions_only_add_theirs(finished):
    jobs = finished.planned("repeats: 3")
    assert {f"Split 2 of {name}" for name in DATASETS} <= jobs
    earlier = ("Market of", "Split 0", "Split 1")
    assert not any(job.startswith(earlier) or job.endswith(("repetition 0", "repetition 1")) for job in jobs)


@pytest.mark.parametrize("target", ["tables", "results/tables/cost_savings.csv"])
def test_a_dataset_more_makes_the_tables_behind_a_table_again(finished, target):
    output = finished.run("--dry-run", "--", target, config="only: [PASCAL, MTWI, ZHNER, own, CONLL]")
    jobs = set(re.findall(r"(?m)^Job \d+: (.+)$", output))
    assert "Market of CONLL" in jobs and {"tradeoff", "cost savings"} <= exhibits_in(jobs)


def test_another_predictor_re_runs_no_market(finished):
    jobs = finished.planned("predictor: mean")
    assert "Estimates of PASCAL, repetition 0" in jobs
    assert not any(job.startswith(("Market of", "Split")) for job in jobs)


def test_another_price_learns_nothing_again(finished):
    jobs = finished.planned("datasets: {MTWI: {prices: {Google: 16}}}")
    of_datasets = {job for job in jobs if not job.startswith(("Exhibits", "The report"))}
    assert {
        "Market of MTWI",
        "Choices for MTWI, repetition 0",
        "Baselines of MTWI, repetition 1",
    } <= of_datasets
    assert all("MTWI" in job for job in of_datasets)
    assert not any(job.startswith(LEARNT) for job in of_datasets)


def test_editing_own_data_re_runs_what_is_made_of_it(finished):
    own = finished.folder / "own.jsonl"
    before = own.read_bytes()
    try:
        own.write_bytes(before.replace(b"item 0", b"item zero", 1))
        jobs = finished.planned()
    finally:
        own.write_bytes(before)
    assert {"Market of own", "Split 0 of own"} <= jobs and "label distribution" in exhibits_in(jobs)
    learnt = {job for job in jobs if job.startswith(("Market", "Split", "Combiners", "Estimates", "Choices"))}
    assert not any(name in job for job in learnt for name in DATASETS[:3])


def test_editing_a_module_re_runs_what_depends_on_it(edited):
    def planned_after_edit(*modules: str) -> set[str]:
        files = [edited.root / "src" / "frugalmct" / module for module in modules]
        before = [file.read_bytes() for file in files]
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content + b"\n# edited\n")
        jobs = edited.planned()
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content)
        return jobs

    # Its batch, and the claims, which read tables of it; what of these is made again is tested below.
    of_exhibit = planned_after_edit("paper/exhibits/cheapest_budget.py")
    batches = {job for job in of_exhibit if job.startswith("Exhibits: ")}
    assert of_exhibit - batches == {"The report"} and len(batches) == 2
    assert "Exhibits: claims" in batches and "cheapest budget" in exhibits_in(batches)
    simulated = planned_after_edit("sources/simulated.py")
    assert {"Answers of PASCAL", "Split 1 of MTWI"} <= simulated
    assert "Answers of own" not in simulated
    printed = planned_after_edit("paper/paper.yaml")
    assert {"dataset statistics", "service prices"} <= exhibits_in(printed)
    assert not any(job.startswith(("Market", *LEARNT)) for job in printed)
    assert edited.planned() == set(), "the content of a file counts, not its time"


def test_editing_an_exhibit_makes_that_one_again_and_no_other(edited):
    def made_when() -> dict[str, int]:
        """Files are written anew, never changed: a file made again is another one."""
        results = edited.folder / "results"
        folders = ("tables", "figures", "captions")
        files = [file for folder in folders for file in (results / folder).rglob("*.*")]
        return {str(file.relative_to(results)): file.stat().st_ino for file in files}

    module = edited.root / "src/frugalmct/paper/exhibits/cheapest_budget.py"
    before, content = made_when(), edited.fingerprints()
    text = module.read_text(encoding="utf-8")
    for edit in (f"{text}\n# edited\n", text):
        module.write_text(edit, encoding="utf-8")
        edited.run()
        after = made_when()
        assert {name for name in before if after[name] != before[name]} == {
            "tables/cheapest_budget.csv", "captions/cheapest_budget.rst",
        }  # fmt: skip
        assert edited.planned() == set()
        before = after
    assert edited.fingerprints() == content
