# Which studies look at which datasets, and what their jobs are given.
from importlib import import_module

from frugalmct.paper.printed import printed_of
from frugalmct.paper.studies.registry import CALL_STUDIES, STUDIES
from frugalmct.paper.studies.scope import studied, studied_budget, studied_budgets, studied_calls
from frugalmct.predict import PREDICTORS

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


def study_name(study, wildcards):
    """The module of a study: for calls with costs of their own there are others."""
    kind = "calls." if wildcards.dataset in PER_CALL else ""
    return f"frugalmct.paper.studies.{kind}{study}"


def study_code(study, wildcards):
    """With what it imports by name: by itself, and of the predictors that it learns with."""
    name = study_name(study, wildcards)
    plugins = getattr(import_module(name), "PLUGINS", [])
    predictors = PREDICTORS.modules(*learnt_with(study, wildcards))
    return package_code("run_study", name, *plugins, *predictors)


def study_inputs(study, wildcards):
    """The files of a repetition that the study reads, and the Python of a predictor that it learns with."""
    needs = import_module(study_name(study, wildcards)).NEEDS
    return {name: FILES[name].format(**wildcards) for name in needs} | {
        "automl": launcher_of(*learnt_with(study, wildcards))
    }


def learnt_with(study, wildcards):
    return [] if wildcards.dataset in PER_CALL else study_predictors(study)


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
