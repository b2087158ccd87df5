# What the jobs of a dataset or of a repetition are given: code, parts of the configuration, data files.
from functools import cache
from pathlib import Path

from frugalmct.paper.config import release_folder
from frugalmct.paper.jobs.code import PACKAGE, code_digest
from frugalmct.paper.jobs.data import data_digests
from frugalmct.predict import PREDICTORS
from frugalmct.select.methods import METHODS
from frugalmct.sources import SOURCES

EXACT = METHODS.modules("exact")
PLUS_FOREST = PREDICTORS.modules("extra_trees")
PER_CALL_FORESTS = PREDICTORS.modules("extra_trees", "random_forest")


def package_code(script, *plugins):
    """A fingerprint of the package code behind a script, the modules of its plug-ins given."""
    return code_digest(WORKFLOW / "scripts" / f"{script}.py", *plugins)


def dataset_block(dataset, *keys):
    """Only what a job uses of a dataset's block: a change of anything else must not run it again."""
    return {key: SETTINGS["datasets"][dataset][key] for key in keys}


def answers_block(wildcards):
    """What answers come from. Not what services cost: with other prices nothing has to be learnt again."""
    prices = SETTINGS["datasets"][wildcards.dataset]["prices"]
    unpriced = {"prices": prices and dict.fromkeys(prices, 0.0)}
    return dataset_block(wildcards.dataset, "task", "source") | unpriced


def market_block(dataset):
    """What a market is made of, and what its file says about how to read it."""
    said = dataset_block(dataset, "features", "metric", "labels_per_item", "unit", "period")
    return (
        dataset_block(dataset, "task", "source", "prices") | said | {"silence": SETTINGS["silence"]}
    )


def unpriced_budgets(dataset):
    """Budgets that nothing can be compared with before the costs in the data are read; of others none, so
    that other budgets do not make a market again."""
    block = BLOCKS[dataset]
    return [] if block["prices"] else block["budgets"]


# ---- data


def source_code(wildcards):
    """The package's code behind answers, of their own source format only."""
    kind = SETTINGS["datasets"][wildcards.dataset]["source"]["kind"]
    return package_code("read_answers", *SOURCES.modules(kind))


def fetched_record(wildcards):
    """What was fetched, for answers of the authors' release."""
    clear_the_way()
    return ["results/release.json"] if wildcards.dataset in FETCHED else []


def source_files(dataset):
    """The data files of answers that are read from some."""
    path = SETTINGS["datasets"][dataset]["source"].get("path")
    # A clone stays as it was fetched; before it is there, its files cannot be listed.
    fetched = dataset in FETCHED
    if fetched and (Path(release_folder(SETTINGS), ".git").exists() or not Path(path).exists()):
        return []
    if path and Path(path).is_dir():
        return sorted(str(file) for file in Path(path).iterdir() if file.is_file())
    return [path] if path else []


@cache
def source_content(dataset):
    """What is in its data files: as input files they would count by their times, which do not tell."""
    with sentence_only():
        return data_digests(source_files(dataset))


# ---- selection


def selection_block(wildcards):
    return dataset_block(wildcards.dataset, "metric", "budgets", "labels_per_item")


def per_call_block(wildcards):
    """How it learns is in the market's file; these are not."""
    return dataset_block(wildcards.dataset, "base", "budgets", "metric")


def swept_stages(dataset):
    """The stages whose tables have a dataset's rows."""
    return ["per_call", "routers"] if dataset in PER_CALL else ["selections", "plus", "baselines"]


def swept_tables(wildcards):
    return expand(
        [FILES[stage] for stage in swept_stages(wildcards.dataset)],
        dataset=wildcards.dataset,
        repetition=REPETITIONS,
    )
