"""The configuration: read without surprises, checked before any job starts, completed with defaults.

Whatever is wrong is said in one sentence (`FrugalError`): where, what was given, what is allowed.
"""

from collections.abc import Mapping
from typing import Any

from frugalmct.paper.config.budgets import default_budgets
from frugalmct.paper.config.command_line import with_command_line
from frugalmct.paper.config.datasets import (
    check_affordable,
    check_dataset_names,
    check_needs,
    check_source_file,
    complete_dataset,
    peeked,
)
from frugalmct.paper.config.doubts import doubts
from frugalmct.paper.config.plain import plain
from frugalmct.paper.config.schema import check_schema, schema, with_defaults
from frugalmct.paper.config.sentences import fail, shown, suggestion
from frugalmct.paper.config.sources import (
    fetched_datasets,
    release_folder,
    selected_datasets,
    with_answers,
    with_parameters,
    with_source,
)
from frugalmct.paper.config.yaml_files import check_yaml
from frugalmct.paper.printed import printed_of

__all__ = [
    "check_yaml",
    "default_budgets",
    "doubts",
    "fetched_datasets",
    "release_folder",
    "selected_datasets",
    "validate",
    "with_command_line",
]

# Blocks of keys with defaults of their own.
NESTED = ("case_study", "predictor_study", "solver_study", "predictor_options", "release_source")


def validate(config: Any) -> dict[str, Any]:
    """The configuration as plain data with every default filled in, or a `FrugalError`."""
    given = with_parameters(plain(config))
    check_schema(given)
    filled = _with_all_defaults(given)
    check_dataset_names(filled["datasets"])
    for name, block in filled["datasets"].items():
        check_needs(name, block)
    filled["datasets"] = {
        name: with_source(name, block, filled) for name, block in filled["datasets"].items()
    }
    for name in selected_datasets(filled):
        filled["datasets"][name] = with_answers(name, filled["datasets"][name], filled)
    selected = selected_datasets(filled)
    filled["datasets"] = {
        name: complete_dataset(name, block, peeked(block) if name in selected else None)
        for name, block in filled["datasets"].items()
    }
    _check_studies(filled)
    for name in selected_datasets(filled):
        check_source_file(name, filled["datasets"][name])
    return filled


def _with_all_defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults at the top, in nested blocks and in every dataset's; whole numbers as such."""
    described = schema("config")
    filled = with_defaults(config, described)
    for key in NESTED:
        filled[key] = with_defaults(filled[key], described["properties"][key])
    searching = described["properties"]["predictor_options"]["properties"]
    filled["predictor_options"] = {
        predictor: with_defaults(options, searching[predictor])
        for predictor, options in filled["predictor_options"].items()
    }
    filled["solver_study"]["items"] = [int(items) for items in filled["solver_study"]["items"]]
    dataset = described["$defs"]["dataset"]
    filled["datasets"] = {name: with_defaults(block, dataset) for name, block in filled["datasets"].items()}
    return filled


def _check_studies(config: Mapping[str, Any]) -> None:
    """That the datasets to study exist and their budgets pay for the base.

    Defaults are let pass: nobody asked for them, and `studied` goes round those that do not fit.
    """
    defaults = {key: entry.get("default") for key, entry in schema("config")["properties"].items()}
    datasets, selected = config["datasets"], selected_datasets(config)
    case, sizes = config["case_study"], config["training_size"]
    wanted: list[tuple[tuple[str, ...], tuple[str, ...], Any, Any]] = [
        (("case_study", "dataset"), ("case_study", "budget"), case["dataset"], case["budget"])
    ]
    wanted += [(("training_size",), ("training_size", name), name, budget) for name, budget in sizes.items()]
    usual = [(*defaults["case_study"].values(),), *defaults["training_size"].items()]
    for name_path, budget_path, name, budget in wanted:
        if name not in datasets and not printed_of(name):
            fail(name_path, f"has {shown(name)}, which is no dataset{suggestion(name, datasets)}")
        if name in selected and datasets[name]["per_call"]:
            fail(name_path, f"has {shown(name)}, whose calls have costs of their own: it has no such study")
        if name in selected and (name, budget) not in usual:
            check_affordable(budget_path, f"is {budget:g}", budget, datasets[name])
