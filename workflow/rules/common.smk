# The configuration checked, what is derived from it, and the shape of the wildcards.
import os
import re
import sys
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.paper.config import (
    check_yaml,
    doubts,
    fetched_datasets,
    release_folder,
    selected_datasets,
    validate,
    with_command_line,
)
from frugalmct.paper.exhibit import STAGES, STUDY
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.batch import batches
from frugalmct.paper.jobs.code import PACKAGE, code_digest
from frugalmct.paper.jobs.data import data_digests
from frugalmct.paper.jobs.dates import set_back
from frugalmct.paper.jobs.disk import check_disk
from frugalmct.paper.jobs.locks import recover_from_kill
from frugalmct.paper.jobs.log import sentence_only
from frugalmct.paper.printed import printed_of
from frugalmct.paper.studies.registry import CALL_STUDIES, STUDIES
from frugalmct.paper.studies.scope import studied, studied_budget, studied_budgets, studied_calls
from frugalmct.predict.available import automl_python, missing
from frugalmct.values import printable

WORKFLOW = Path(str(workflow.current_basedir)).parent
# Jobs make and drop arrays of some megabytes all the time. So the C library keeps memory for the next one, where the
# system would clear new pages for each: a fifth of the time of some jobs.
for setting, value in {
    "MALLOC_MMAP_MAX_": 0,
    "MALLOC_TRIM_THRESHOLD_": 1 << 30,
    "MALLOC_TOP_PAD_": 64 << 20,
}.items():
    os.environ.setdefault(setting, str(value))

with sentence_only():
    for file in workflow.configfiles:
        check_yaml(file)
    SETTINGS = validate(with_command_line(config, workflow.config_settings.config or {}))
    if workflow.is_main_process:
        for sentence in doubts(SETTINGS):
            print(f"Warning: {printable(sentence)}", file=sys.stderr)
        check_disk(Path.cwd())

DATASETS = selected_datasets(SETTINGS)
BLOCKS = {name: SETTINGS["datasets"][name] for name in DATASETS}
REPETITIONS = range(SETTINGS["repeats"])
# Where every call has its own cost, or answers a quality, one service's answer stands: a way of its own.
PER_CALL = [name for name, block in BLOCKS.items() if block["per_call"]]
LABELLED = [name for name in DATASETS if name not in PER_CALL]
EACH = {"dataset": LABELLED, "repetition": REPETITIONS}
EACH_PER_CALL = {"dataset": PER_CALL, "repetition": REPETITIONS}
# Where a dataset's answers come from, by the format of its source.
DATA_OF_KIND = {"simulated": "simulated", "jsonl": "recorded"}
DATA = {
    name: DATA_OF_KIND.get(block["source"]["kind"], "release") for name, block in BLOCKS.items()
}
# Read from the authors' release, which is fetched if it is not there.
FETCHED = fetched_datasets(SETTINGS)
LEARNING_KEYS = ("features", "metric", "labels_per_item")
# auto-sklearn runs in a Python of its own; jobs find it, once tried, behind a launcher.
AUTO_SKLEARN = "auto_sklearn"
AUTOML_LAUNCHER = "results/automl/python"
CONDA = any(method.name == "CONDA" for method in workflow.deployment_settings.deployment_method)
AUTOML_PYTHON = automl_python(
    SETTINGS["predictor_options"][AUTO_SKLEARN]["python"], WORKFLOW.parent
)


wildcard_constraints:
    dataset="|".join(map(re.escape, DATASETS)),
    repetition=r"\d+",


@cache
def clear_the_way():
    """What an earlier run left behind no longer stands in the way; a dry run changes nothing.

    Input functions call it: only when Snakemake asks them does it know whether it runs anything, and it has
    not locked the folder yet nor looked at the times of files.
    """
    if workflow.is_main_process and workflow.executor_plugin is not None:
        if not workflow.dryrun:
            recover_from_kill()
        if workflow.local_exec:
            # A limit of jobs per second is for queues. Here every job that ended would add one more look a second at
            # all that are ready, until a fifth of a core is gone.
            workflow.scheduling_settings.max_jobs_per_timespan = None
        if sentence := set_back(dry=workflow.dryrun):
            print(sentence, file=sys.stderr)


def package_code(script, *plugins):
    """A fingerprint of the package code behind a script, the modules of its plug-ins given."""
    return code_digest(WORKFLOW / "scripts" / f"{script}.py", *plugins)


def from_here(file):
    """Relative where possible: results then stay valid when the whole folder is moved."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


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


def lacking(predictor):
    """Why a predictor cannot be used; with conda Snakemake makes all that is needed."""
    return None if CONDA else missing(predictor, from_here(Path(AUTOML_PYTHON)))


def learning_with(predictor):
    """What a job that learns with this predictor is given; a change of anything else does not run it again."""
    options = SETTINGS["predictor_options"].get(predictor, {})
    if predictor == AUTO_SKLEARN:
        options = {key: options[key] for key in ("seconds", "memory_mb")}
        options["python"] = AUTOML_LAUNCHER
    return {"predictor": predictor, "options": options} | {
        key: SETTINGS[key] for key in ("seed", "silence")
    }


def launcher_of(*predictors):
    """The checked Python, as input of jobs that learn with auto-sklearn."""
    return [AUTOML_LAUNCHER] if AUTO_SKLEARN in predictors else []


def threads_of(*predictors):
    return SETTINGS["predictor_options"][AUTO_SKLEARN]["cores"] if AUTO_SKLEARN in predictors else 1


with sentence_only():
    if sentence := lacking(SETTINGS["predictor"]):
        raise FrugalError(f"config: {sentence}")

PREDICTOR = SETTINGS["predictor"]
LEARNING = learning_with(PREDICTOR)


# ---- data


def source_code(wildcards):
    """The package's code behind answers, of their own source format only."""
    kind = SETTINGS["datasets"][wildcards.dataset]["source"]["kind"]
    return package_code("read_answers", f"frugalmct.sources.{kind}")


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

EXACT = "frugalmct.select.exact"
PLUS_FOREST = "frugalmct.predict.extra_trees"
PER_CALL_FORESTS = (PLUS_FOREST, "frugalmct.predict.random_forest")


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
        "results/{stage}/{dataset}/{repetition}.csv",
        stage=swept_stages(wildcards.dataset),
        dataset=wildcards.dataset,
        repetition=REPETITIONS,
    )


# ---- studies

# Seconds for each solver and budget of the cross-check: what is solved at all is mostly solved at once.
AGREEMENT_SECONDS = SETTINGS["solver_study"]["time_limit"] / 10

CASE = {SETTINGS["case_study"]["dataset"]: SETTINGS["case_study"]["budget"]}
COMPARED = SETTINGS["predictor_study"]["predictors"]
# Study -> datasets of the paper that it looks at, with a budget where one is given.
WANTED = {study: CASE for study in STUDIES} | {
    "training_size": SETTINGS["training_size"],
    "predictors": dict.fromkeys(SETTINGS["predictor_study"]["datasets"]),
    "robustness": SETTINGS["training_size"] | CASE,
    "ablation": {name: None for name in LABELLED if printed_of(name)},
    "solver_agreement": {name: None for name in LABELLED if printed_of(name)},
}
LACKING = {predictor: sentence for predictor in COMPARED if (sentence := lacking(predictor))}
INSTALLED = [predictor for predictor in COMPARED if predictor not in LACKING]
# The others are of one repetition, as the paper's case study is; one is enough to see whether solvers agree.
REPEATED = {
    "ablation": REPETITIONS[: SETTINGS["predictor_study"]["repeats"]],
    "training_size": REPETITIONS,
    "predictors": REPETITIONS[: SETTINGS["predictor_study"]["repeats"]],
}
# Study -> its datasets, and its repetitions.
STUDIED = {
    study: (
        [*studied(study, SETTINGS, WANTED[study]), *studied_calls(study, SETTINGS)],
        REPEATED.get(study, [0]),
    )
    for study in STUDIES
}
FILES = {
    "market": "results/markets/{dataset}.npz",
    "split": "results/splits/{dataset}/{repetition}.npz",
    "combination": "results/combinations/{dataset}/{repetition}.json",
    "estimates": "results/estimates/{dataset}/{repetition}.npz",
    "plans": "results/plans/{dataset}/{repetition}.json",
    "call_estimates": "results/call_estimates/{dataset}/{repetition}.npz",
}
# What is imported by name while a study runs.
PLUGINS = {
    "ablation": [PLUS_FOREST, "frugalmct.predict.random_forest"],
    "runtime": [f"frugalmct.predict.{PREDICTOR}"],
    "training_size": [f"frugalmct.predict.{PREDICTOR}"],
    "predictors": [f"frugalmct.predict.{predictor}" for predictor in INSTALLED],
    "robustness": [EXACT, f"frugalmct.predict.{PREDICTOR}"],
    "solver_agreement": [EXACT, "frugalmct.select.solvers.cbc", "frugalmct.select.solvers.highs"],
    "solver_runtime": [
        EXACT,
        "frugalmct.select.relaxation",
        *(f"frugalmct.select.solvers.{name}" for name in ("cbc", "highs", "cp_sat", "scip")),
    ],
}


# And while one runs of calls with costs of their own.
CALL_PLUGINS = {"robustness": [EXACT], "training_size": PER_CALL_FORESTS} | {
    study: PLUGINS[study] for study in ("solver_agreement", "solver_runtime")
}


def study_name(study, wildcards):
    """The module of a study: for calls with costs of their own there are others."""
    kind = "calls." if wildcards.dataset in PER_CALL else ""
    return f"frugalmct.paper.studies.{kind}{study}"


def study_code(study, wildcards):
    plugins = CALL_PLUGINS if wildcards.dataset in PER_CALL else PLUGINS
    return package_code("run_study", study_name(study, wildcards), *plugins.get(study, []))


def study_inputs(study, wildcards):
    """The files of a repetition that the study reads, and the Python of a predictor that it learns with."""
    needs = import_module(study_name(study, wildcards)).NEEDS
    learns = [] if wildcards.dataset in PER_CALL else study_predictors(study)
    return {name: FILES[name].format(**wildcards) for name in needs} | {
        "automl": launcher_of(*learns)
    }


def study_predictors(study):
    """The predictors that a study of label sets learns with."""
    if study == "predictors":
        return INSTALLED
    learns = "learning" in import_module(f"frugalmct.paper.studies.{study}").SETTINGS
    return [PREDICTOR] if learns else []


def study_settings(study, wildcards):
    """What the study is configured by, and no more: a change of anything else does not run it again."""
    dataset = wildcards.dataset
    known = {
        "budget": lambda: studied_budget(BLOCKS[dataset], WANTED[study].get(dataset)),
        "budgets": lambda: studied_budgets(SETTINGS["datasets"][dataset]["budgets"]),
        "block": lambda: dataset_block(dataset, *LEARNING_KEYS),
        "seed": lambda: SETTINGS["seed"],
        "learning": lambda: LEARNING,
        "learnings": lambda: [learning_with(predictor) for predictor in COMPARED],
        "lacking": lambda: LACKING,
        "solver_study": lambda: SETTINGS["solver_study"],
        "time_limit": lambda: AGREEMENT_SECONDS,
        "prices": lambda: BLOCKS[dataset]["prices"],
    }
    return {name: known[name]() for name in import_module(study_name(study, wildcards)).SETTINGS}


# ---- exhibits

STAGE_FILES = {
    "markets": expand("results/markets/{dataset}.npz", dataset=DATASETS),
    "selections": expand("results/selections/{dataset}/{repetition}.csv", **EACH),
    "plus": expand("results/plus/{dataset}/{repetition}.csv", **EACH),
    "baselines": expand("results/baselines/{dataset}/{repetition}.csv", **EACH),
    "per_call": expand("results/per_call/{dataset}/{repetition}.csv", **EACH_PER_CALL),
    "routers": expand("results/routers/{dataset}/{repetition}.csv", **EACH_PER_CALL),
    "estimates": expand("results/estimates/{dataset}/{repetition}.npz", **EACH),
    "plans": expand("results/plans/{dataset}/{repetition}.json", **EACH),
    "call_estimates": expand(FILES["call_estimates"], **EACH_PER_CALL),
}
STUDIES_MADE = {study for study, (datasets, _) in STUDIED.items() if datasets}
EXHIBITS = [
    exhibit
    for exhibit in all_exhibits()
    if exhibit.applies(
        {name: DATA[name] for name in exhibit.shows(DATASETS, PER_CALL)}, STUDIES_MADE
    )
]
# What one job makes.
BATCHES = batches(EXHIBITS)
# What exhibits may take from the configuration; of the settings as a whole a change would make them all again.
EXHIBIT_SETTINGS = {
    "data": DATA,
    "datasets": DATASETS,
    "tasks": {name: block["task"] for name, block in BLOCKS.items()},
    "prices": {name: block["prices"] for name, block in BLOCKS.items()},
    "units": {name: block["unit"] for name, block in BLOCKS.items()},
    # Dataset -> services whose answers the release lacks, each with the files that are missing.
    "dropped": {name: block.get("dropped", {}) for name, block in BLOCKS.items()},
    "predictor": PREDICTOR,
    "train_share": SETTINGS["train_share"],
}
PER_DATASET = {"data", "tasks", "prices", "units", "dropped"}


def exhibit_settings(exhibit):
    """Of the settings that it takes, what is of the datasets that it shows."""
    shown_ones = exhibit.shows(DATASETS, PER_CALL)
    taken = {key: EXHIBIT_SETTINGS[key] for key in ("data", *exhibit.settings)}
    for key in PER_DATASET & taken.keys():
        taken[key] = {name: taken[key][name] for name in shown_ones}
    return taken | ({"datasets": shown_ones} if "datasets" in taken else {})


def table_of(name):
    return f"results/tables/{name}.csv"


def files_of(exhibit, need):
    """The files behind one of an exhibit's needs: a stage, a study, or another exhibit's table."""
    if need == "markets":
        return expand(FILES["market"], dataset=exhibit.shows(DATASETS, PER_CALL))
    if need in STAGES:
        return STAGE_FILES[need]
    if need.startswith(STUDY):
        datasets, repetitions = STUDIED[need.removeprefix(STUDY)]
        return expand(
            f"results/{need}/{{dataset}}/{{repetition}}.csv",
            dataset=datasets,
            repetition=repetitions,
        )
    return [table_of(need)] if any(exhibit.name == need for exhibit in EXHIBITS) else []


def figures_of(exhibit):
    """One figure of all datasets, and one of each that is drawn, as SVG and PNG."""
    studied_ones = [list(STUDIED[study][0]) for study in exhibit.studies]
    shown_ones = exhibit.shows(DATASETS, PER_CALL)
    drawn = exhibit.datasets_drawn(studied_ones[0] if studied_ones else shown_ones)
    stems = [exhibit.name] if exhibit.plot else []
    stems += [f"{exhibit.name}/{dataset}" for dataset in drawn]
    return [f"results/figures/{stem}.{ending}" for stem in stems for ending in ("svg", "png")]


def made_by(exhibit):
    return [table_of(exhibit.name), *figures_of(exhibit)]


def batch_inputs(members):
    """What has to be there for a batch's exhibits, from outside of it. Of another exhibit its figures too: while
    one of a new dataset is missing, Snakemake knows nothing of the job that makes both, and would take the table
    for up to date."""
    wanted = []
    for exhibit in members:
        for need in exhibit.needs:
            other = next((other for other in EXHIBITS if other.name == need), None)
            if other not in members:
                wanted += made_by(other) if other else files_of(exhibit, need)
    return list(dict.fromkeys(wanted))


def exhibit_code(exhibit):
    """Its own module, and those that say how the tables it reads are written."""
    tables = [need for need in exhibit.needs if need not in STAGES and not need.startswith(STUDY)]
    modules = [f"frugalmct.paper.exhibits.{name}" for name in (exhibit.name, *tables)]
    return package_code("make_exhibits", *modules)


def part_of(exhibit):
    """An exhibit as its batch's job is given it."""
    return {
        "name": exhibit.name,
        "settings": exhibit_settings(exhibit),
        "files": {need: files_of(exhibit, need) for need in exhibit.needs},
        "table": table_of(exhibit.name),
        "figures": figures_of(exhibit),
        "caption": caption_of(exhibit),
    }


def caption_of(exhibit):
    return f"results/captions/{exhibit.name}.rst"


def shown(exhibit):
    """Its files, marked for `snakemake --report`, with the exhibit's caption, which its job writes."""
    caption = str(Path.cwd() / caption_of(exhibit))
    return [
        file if file.endswith(".png") else report(file, caption=caption, category=exhibit.section)
        for file in made_by(exhibit)
    ] + [caption_of(exhibit)]


def timings():
    """The files with the times of this run's jobs: beside them lie those of datasets that were run earlier."""
    per_dataset = ("read_answers", "make_market", "announce_dataset")
    each = ("split_market", "combine_answers", "estimate_accuracy")
    each += ("select_services", "route_plus", "evaluate_baselines")
    jobs = expand("{rule}/{dataset}", rule=per_dataset, dataset=DATASETS)
    jobs += expand("{rule}/{dataset}/{repetition}", rule=each, **EACH)
    own = ("split_market", "route_per_call", "evaluate_routers")
    jobs += expand("{rule}/{dataset}/{repetition}", rule=own, **EACH_PER_CALL)
    for study, (datasets, repetitions) in STUDIED.items():
        jobs += [f"study_{study}/{name}/{number}" for name in datasets for number in repetitions]
    jobs += [f"exhibits_{batch}" for batch in BATCHES]
    jobs += ["fetch_release"] if FETCHED else []
    jobs += ["try_automl"] if launcher_of(PREDICTOR, *INSTALLED) else []
    return [f"results/benchmarks/{job}.tsv" for job in jobs]
