# What predictors need beyond the rest: told before any job starts, and auto-sklearn's Python tried before its use.
from frugalmct.available import automl_python, missing

AUTO_SKLEARN = "auto_sklearn"
AUTOML_LAUNCHER = "results/automl/python"
CONDA = any(method.name == "CONDA" for method in workflow.deployment_settings.deployment_method)
AUTOML_PYTHON = automl_python(
    SETTINGS["predictor_options"][AUTO_SKLEARN]["python"], workflow.basedir
)


def lacking(predictor):
    """Why a predictor can not be used; with conda Snakemake makes all that is needed."""
    return None if CONDA else missing(predictor, AUTOML_PYTHON)


def learning_with(predictor):
    """What a job that learns with this predictor is told; a change of anything else does not run it again."""
    options = SETTINGS["predictor_options"].get(predictor, {})
    if predictor == AUTO_SKLEARN:
        options = {key: options[key] for key in ("seconds", "memory_mb")}
        options["python"] = AUTOML_LAUNCHER
    return {"predictor": predictor, "options": options, "seed": SETTINGS["seed"]}


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


rule try_automl:
    input:
        code=from_here(PACKAGE / "predict" / "auto_sklearn_job.py"),
    output:
        AUTOML_LAUNCHER,
    log:
        "results/logs/try_automl.log",
    benchmark:
        "results/benchmarks/try_automl.tsv"
    conda:
        "../../envs/automl.yaml"
    resources:
        mem_mb=1000,
    params:
        python="python" if CONDA else AUTOML_PYTHON,
    message:
        "The Python of auto-sklearn, tried"
    shell:
        "{params.python:q} {input.code:q} introduce {output:q} > {log:q} 2>&1"
        " || {{ tail -n 1 {log:q} >&2; exit 1; }}"
