"""Where a dataset is read from: simulated with which parameters, or which folder of the authors' release."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from frugalmct.paper.config.datasets import check_pattern
from frugalmct.paper.config.sentences import fail, shown, suggestion
from frugalmct.paper.printed import printed_of
from frugalmct.sources.release import (
    ANSWER_FILES,
    DEFAULT_FOLDER,
    dataset_folder,
    missing_answers,
    refuse_missing,
)


@cache
def simulated_parameters() -> dict[str, dict[str, Any]]:
    """Dataset -> the parameters of its simulated market."""
    text = resources.files("frugalmct").joinpath("paper/simulated.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def with_parameters(config: Any) -> Any:
    """The configuration with the package's parameters behind what a simulated dataset of that name gives."""
    blocks = config.get("datasets") if isinstance(config, dict) else None
    if not isinstance(blocks, dict):
        return config
    return config | {"datasets": {name: _parametrised(name, block) for name, block in blocks.items()}}


def _parametrised(name: str, block: Any) -> Any:
    source = block.get("source") if isinstance(block, dict) else None
    if not isinstance(source, dict) or source.get("kind") != "simulated":
        return block
    known = simulated_parameters()
    if len(source) == 1 and name not in known:
        fail(
            ("datasets", name, "source"),
            "has no parameters; give those of the model beside `kind: simulated`, or name the dataset "
            f"after one that the package knows{suggestion(name, known)}",
        )
    return block | {"source": {"kind": "simulated"} | known.get(name, {}) | source}


def selected_datasets(config: Mapping[str, Any]) -> list[str]:
    """The datasets to run, in the order of the configuration."""
    datasets = config["datasets"]
    for place, name in enumerate(config["only"]):
        if name not in datasets:
            fail(("only", place), f"is {shown(name)}, which is no dataset{suggestion(name, datasets)}")
    return [name for name in datasets if not config["only"] or name in config["only"]]


def release_folder(config: Mapping[str, Any]) -> str:
    """Where the authors' release is, or will be."""
    return config["release_dir"] or DEFAULT_FOLDER


def fetched_datasets(config: Mapping[str, Any]) -> list[str]:
    """Of the datasets to run, those in the release as a whole rather than in a folder of their own."""
    folders = {name: dataset_folder(release_folder(config), name) for name in selected_datasets(config)}
    return [
        name
        for name, folder in folders.items()
        if config["data"] == "release" and config["datasets"][name]["source"].get("path") == str(folder)
    ]


def with_source(name: str, block: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """With `data: release` what would be simulated of the paper's datasets is read from the release."""
    source = block["source"]
    if config["data"] == "release" and source["kind"] == "simulated" and printed_of(name):
        source = {"kind": "frugalmct", "path": str(dataset_folder(release_folder(config), name))}
    one_label = source["kind"] == "frugalml" and block["labels_per_item"] is None
    return block | {"source": source} | ({"labels_per_item": 1} if one_label else {})


def with_answers(name: str, block: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A released dataset without the services that lack answers, these under `dropped`; or why it cannot be.

    A release that is still to be fetched is looked at when it is there.
    """
    source, path = block["source"], ("datasets", name)
    if source["kind"] not in ANSWER_FILES:
        return block
    check_pattern((*path, "source", "path"), source["path"])
    if name in fetched_datasets(config) and not Path(release_folder(config)).is_dir():
        return block
    missing = missing_answers(source["kind"], Path(source["path"]), block["prices"], block["task"])
    if not missing:
        return block
    if config["missing_services"] == "error":
        refuse_missing({f"{name}'s {service}": files for service, files in missing.items()})
    prices = {service: price for service, price in block["prices"].items() if service not in missing}
    if not prices:
        fail(path, f"has answers of no service in {source['path']}; get the whole release")
    if block["base"] in missing:
        fail((*path, "base"), f"is {shown(block['base'])}, whose answers are missing; choose another")
    dropped = {service: [str(file) for file in files] for service, files in missing.items()}
    return block | {"prices": prices, "dropped": dropped}
