# The configuration checked, what is derived from it, and the shape of the wildcards.
import os
import re
import sys
from functools import cache
from pathlib import Path

from frugalmct.errors import FrugalError
from frugalmct.paper.config import (
    check_yaml,
    doubts,
    fetched_datasets,
    selected_datasets,
    validate,
    with_command_line,
)
from frugalmct.paper.jobs.dates import set_back
from frugalmct.paper.jobs.disk import check_disk
from frugalmct.paper.jobs.locks import recover_from_kill
from frugalmct.paper.jobs.log import sentence_only
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
# What the rules of a dataset or of a repetition make, and studies and exhibits read.
FILES = {
    "market": "results/markets/{dataset}.npz",
    "split": "results/splits/{dataset}/{repetition}.npz",
    "combination": "results/combinations/{dataset}/{repetition}.json",
    "estimates": "results/estimates/{dataset}/{repetition}.npz",
    "plans": "results/plans/{dataset}/{repetition}.json",
    "selections": "results/selections/{dataset}/{repetition}.csv",
    "plus": "results/plus/{dataset}/{repetition}.csv",
    "baselines": "results/baselines/{dataset}/{repetition}.csv",
    "per_call": "results/per_call/{dataset}/{repetition}.csv",
    "call_estimates": "results/call_estimates/{dataset}/{repetition}.npz",
    "routers": "results/routers/{dataset}/{repetition}.csv",
}
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


def from_here(file):
    """Relative where possible: results then stay valid when the whole folder is moved."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


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
