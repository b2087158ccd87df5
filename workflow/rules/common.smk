# The configuration checked, what is derived from it, and the shape of the wildcards.
import re
from pathlib import Path

from frugalmct.available import automl_python, missing
from frugalmct.config import (
    check_yaml,
    fetched_datasets,
    release_folder,
    selected_datasets,
    validate,
)
from frugalmct.errors import FrugalError
from frugalmct.job import sentence_only
from frugalmct.locks import recover_from_kill
from frugalmct.modules import PACKAGE, code_files
from frugalmct.paper import figures_of

WORKFLOW = Path(workflow.basedir) / "workflow"

with sentence_only():
    for file in workflow.configfiles:
        check_yaml(file)
    SETTINGS = validate(config, WORKFLOW / "schemas")

if workflow.is_main_process:
    recover_from_kill()

DATASETS = selected_datasets(SETTINGS)
REPETITIONS = range(SETTINGS["repeats"])
# The paper's datasets that are simulated: there is something to be faithful to.
SIMULATED = [
    name
    for name in DATASETS
    if SETTINGS["datasets"][name]["source"]["kind"] == "simulated" and figures_of(name)
]
# The paper shows the labels of COCO; a dataset of one's own is worth the same look.
LABEL_DISTRIBUTIONS = [name for name in DATASETS if name == "COCO" or not figures_of(name)]
# Read from the authors' release, which is fetched if it is not there.
FETCHED = fetched_datasets(SETTINGS)
# Dataset -> services whose answers the release lacks, each with the files that are missing.
DROPPED = {name: SETTINGS["datasets"][name].get("dropped", {}) for name in DATASETS}
LEARNING_KEYS = ("features", "metric", "labels_per_item")
# auto-sklearn runs in a Python of its own; jobs find it, once tried, behind a launcher.
AUTO_SKLEARN = "auto_sklearn"
AUTOML_LAUNCHER = "results/automl/python"
CONDA = any(method.name == "CONDA" for method in workflow.deployment_settings.deployment_method)
AUTOML_PYTHON = automl_python(
    SETTINGS["predictor_options"][AUTO_SKLEARN]["python"], workflow.basedir
)
PREDICTOR_MODULE = f"frugalmct.predict.{SETTINGS['predictor']}"
DATASET_OF_STEM = {name.lower(): name for name in DATASETS}


wildcard_constraints:
    dataset="|".join(map(re.escape, DATASETS)),
    stem="|".join(map(re.escape, DATASET_OF_STEM)),
    repetition=r"\d+",


def package_code(script, *plugins):
    """The package's files that a script depends on, the modules of its plug-ins given."""
    return [from_here(file) for file in code_files(WORKFLOW / "scripts" / f"{script}.py", *plugins)]


def from_here(file):
    """Relative where possible: results then stay valid when the whole folder is moved."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def growing(megabytes):
    """Memory that a job asks for: at every further attempt as much more."""
    return lambda wildcards, attempt: attempt * megabytes


def dataset_block(dataset, *keys):
    """Only what a job uses of a dataset's block: a change of anything else must not run it again."""
    return {key: SETTINGS["datasets"][dataset][key] for key in keys}


def source_code(wildcards):
    """The package's files behind a market, of its own source format only."""
    kind = SETTINGS["datasets"][wildcards.dataset]["source"]["kind"]
    return package_code("make_market", f"frugalmct.sources.{kind}")


def source_files(wildcards):
    """The data files of a market that is read from some."""
    path = SETTINGS["datasets"][wildcards.dataset]["source"].get("path")
    if not path:
        return []
    record = ["results/release.json"] if wildcards.dataset in FETCHED else []
    # A clone stays as it was fetched; before it is there, its files can not be listed.
    if record and (Path(release_folder(SETTINGS), ".git").exists() or not Path(path).exists()):
        return record
    if Path(path).is_dir():
        return record + sorted(str(file) for file in Path(path).iterdir() if file.is_file())
    return [path]


def lacking(predictor):
    """Why a predictor can not be used; with conda Snakemake makes all that is needed."""
    return None if CONDA else missing(predictor, from_here(Path(AUTOML_PYTHON)))


def learning_with(predictor):
    """What a job that learns with this predictor is told; a change of anything else does not run it again."""
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

LEARNING = learning_with(SETTINGS["predictor"])
LAUNCHER = launcher_of(SETTINGS["predictor"])
LEARNING_THREADS = threads_of(SETTINGS["predictor"])
